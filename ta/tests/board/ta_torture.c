/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tries what the bench and digest TAs compute on a real TEE.
 *
 *   ta_torture vectors FILE
 *	the published vectors of FILE, in both directions, whole and in steps
 *   ta_torture sessions COUNT CALLS
 *	COUNT sessions at once make CALLS calls in all, of all kinds; every
 *	result is compared with what the portable code gives here, and OP-TEE's
 *	memory with what it was before
 *   ta_torture parallel CALLS
 *	two threads make CALLS calls each in one session of the digest TA:
 *	right results or a refusal, and the TA answers afterwards
 *   ta_torture keep MARKER, kept MARKER
 *	the bench TA stores an object full of MARKER; kept: it is still so,
 *	and is removed
 *   ta_torture stranger TIME_LOW
 *	a bench TA whose UUID begins otherwise has no object of that name, and
 *	its own by that name is another
 *
 *   ta_torture hostile CALLS
 *	CALLS calls of all kinds on memory that a thread changes meanwhile, and
 *	in which input and output overlap: each is answered, no TA dies, what a
 *	wrong tag covers stays inside
 *   ta_torture keys BITS
 *	keys and peers that are none, of at most BITS: none ends its session
 *   ta_torture work COMMANDS
 *	each of so many commands that repeat (there are 6) refuses more than one
 *	call may do, and does as much as it may
 *   ta_torture longest
 *	the dearest calls that may be made, in times of a reference's
 *   ta_torture opens CLIENTS SECONDS SEED calm|killed|restarted ONE_IN
 *	CLIENTS processes open and close sessions of all TAs for so long, one
 *	in ONE_IN of a TA that isn't loaded already; some are killed,
 *	tee-supplicant is, too: no 30 s pass without an answer
 *   ta_torture first ROUNDS SEED FOLDER
 *	in each round the TEE's files in FOLDER are removed and two clients open
 *	two TAs at the same moment: no 30 s pass without an answer
 *   ta_torture nested
 *	what a TA gets whose output lies inside its input (docs/upstream-bugs.md)
 *   ta_torture hold
 *	calls that take as long as they can, until it is killed
 *
 * Exit status: 0 fine, 1 a finding, 2 usage or no TEE.
 */
#include <stdio.h>
#include <string.h>

#include "board.h"
#include "torture.h"

TEEC_Context context;

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int args;
		int (*run)(char **argv);
	} checks[] = {
		{ "vectors", 1, check_vectors },
		{ "sessions", 2, check_sessions },
		{ "parallel", 1, check_parallel },
		{ "keep", 1, keep },
		{ "kept", 1, kept },
		{ "stranger", 1, meet_stranger },
		{ "hostile", 1, check_hostile },
		{ "keys", 1, check_keys },
		{ "work", 1, check_work },
		{ "longest", 0, check_longest },
		{ "opens", 5, check_opens },
		{ "first", 3, check_first },
		{ "nested", 0, check_nested },
		{ "hold", 0, hold },
	};

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++) {
		int status;

		if (argc != 2 + checks[i].args || strcmp(argv[1], checks[i].name))
			continue;
		if (TEEC_InitializeContext(NULL, &context))
			die("no TEE");
		status = checks[i].run(argv + 2);
		TEEC_FinalizeContext(&context);
		return status;
	}
	fprintf(stderr, "usage: ta_torture vectors FILE\n"
			"       ta_torture sessions COUNT CALLS\n"
			"       ta_torture parallel CALLS\n"
			"       ta_torture keep|kept MARKER\n"
			"       ta_torture stranger TIME_LOW\n"
			"       ta_torture hostile CALLS\n"
			"       ta_torture keys BITS\n"
			"       ta_torture opens CLIENTS SECONDS SEED HOW ONE_IN\n"
			"       ta_torture first ROUNDS SEED FOLDER\n"
			"       ta_torture work COMMANDS\n"
			"       ta_torture longest|nested|hold\n");
	return 2;
}
