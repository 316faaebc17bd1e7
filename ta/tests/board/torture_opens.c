/* SPDX-License-Identifier: BSD-2-Clause */
/* Sessions opened and closed by many clients at once, some of them killed. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <teemark/ta_bench.h>
#include <teemark/ta_digest.h>
#include <teemark/ta_probe.h>
#include <teemark/ta_size.h>

#include "board.h"
#include "torture.h"

enum {
	MOST_CLIENTS = 16,
	SILENCE_S = 120,    /* without any call that came back: the TEE hangs */
	KILL_MS = 400,      /* mean time between two clients that are killed */
	RESTART_MS = 20000, /* the same for tee-supplicant */
};

/*
 * Two TAs that one client keeps loaded, so that to open them is cheap, and
 * those that are loaded for their opening: an instance for each session, and a
 * single instance that another client may have open already.
 */
static const TEEC_UUID kept_tas[] = { TA_SIZE_UUID(32), TA_SIZE_UUID(64) };
static const TEEC_UUID own_tas[] = { TA_BENCH_UUID, TA_DIGEST_UUID, TA_PROBE_UUID };
static const TEEC_UUID single_tas[] = { TA_SIZE_UUID(256), TA_SIZE_UUID(1024) };

enum kind { KEPT, OWN, SINGLE, KINDS };

/* Written by the clients, read by their parent, which says when it is over. */
struct tally {
	atomic_uint opened[KINDS], refused, calls;
	atomic_uint last_error;
	atomic_uint longest_ms;
	atomic_bool keeps, over;
};

static struct tally *tally;
static uint64_t dice;
static unsigned int one_in; /* of so many openings one is of a TA that isn't kept */

static uint32_t roll(uint32_t sides)
{
	dice = dice * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(dice >> 33) % sides;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* A TA to open, and its kind. */
static TEEC_UUID choose(enum kind *kind)
{
	if (roll(one_in)) {
		*kind = KEPT;
		return kept_tas[roll(2)];
	}
	*kind = roll(5) < 3 ? OWN : SINGLE;
	return *kind == OWN ? own_tas[roll(3)] : single_tas[roll(2)];
}

static void open_once(void)
{
	enum kind kind;
	TEEC_UUID uuid = choose(&kind);
	uint64_t begin;
	unsigned int took;
	TEEC_Context own;
	TEEC_Session s;
	TEEC_Result res;

	/* Openings meet each other at all distances. */
	if (!roll(8))
		usleep(roll(500));
	begin = now_ms();
	res = TEEC_InitializeContext(NULL, &own);
	if (!res) {
		res = TEEC_OpenSession(&own, &s, &uuid, TEEC_LOGIN_PUBLIC, NULL, NULL, NULL);
		if (!res) {
			tally->opened[kind]++;
			/* Any answer will do: a client that is killed here
			 * leaves a session with a call under way. */
			TEEC_InvokeCommand(&s, 0, NULL, NULL);
			TEEC_CloseSession(&s);
		}
		TEEC_FinalizeContext(&own);
	}
	if (res) {
		tally->refused++;
		tally->last_error = res;
	}
	took = (unsigned int)(now_ms() - begin);
	if (took > tally->longest_ms)
		tally->longest_ms = took;
	tally->calls++;
}

/* A client that does nothing but keep a session of each kept TA. */
static pid_t start_keeper(void)
{
	pid_t pid = fork();
	TEEC_Session s[2];

	if (pid)
		return pid;
	for (int i = 0; i < 2; i++) {
		TEEC_Result res = TEEC_OpenSession(&context, &s[i], &kept_tas[i], TEEC_LOGIN_PUBLIC,
						   NULL, NULL, NULL);

		if (res)
			die("a TA to be kept can't be opened: 0x%08x", res);
	}
	tally->keeps = true;
	for (;;)
		pause();
}

static pid_t start_client(void)
{
	pid_t pid;

	roll(2);
	pid = fork();
	if (pid)
		return pid;
	dice ^= (uint64_t)getpid() << 32;
	while (!tally->over)
		open_once();
	_exit(0);
}

/* The first line of a file of /proc, or "?". */
static const char *read_line(pid_t pid, const char *name, char *line, int size)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	f = fopen(path, "r");
	if (!f || !fgets(line, size, f))
		strcpy(line, "?");
	if (f)
		fclose(f);
	line[strcspn(line, "\n")] = 0;
	return line;
}

/* Ends tee-supplicant and starts it as it was started; 1 if that was done. */
static int restart_supplicant(void)
{
	FILE *f = popen("pidof tee-supplicant", "r");
	char command[400] = "tee-supplicant -d", path[64];
	int pid = 0;

	if (f && fscanf(f, "%d", &pid) == 1) {
		static char kept[400];
		int fd;

		snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
		fd = open(path, O_RDONLY);
		if (fd >= 0) {
			ssize_t n = read(fd, kept, sizeof(kept) - 1);

			for (ssize_t i = 0; i + 1 < n; i++)
				kept[i] = kept[i] ? kept[i] : ' ';
			close(fd);
		}
		if (kept[0])
			strcpy(command, kept);
		kill(pid, SIGKILL);
	}
	if (f)
		pclose(f);
	usleep(1000 * roll(200));
	return system(command) == 0;
}

static bool supplicant_runs(void)
{
	return system("pidof tee-supplicant >/dev/null") == 0;
}

static int report_hang(const pid_t *clients, int count)
{
	char where[80], state[80];
	/* Only one process may have it; EBUSY while nobody has it: the kernel
	 * keeps what the last tee-supplicant had. */
	int fd = open("/dev/teepriv0", O_RDWR), why = fd < 0 ? errno : 0;

	if (fd >= 0)
		close(fd);
	printf("hang: no call came back for %d s; tee-supplicant %s; its device: %s\n", SILENCE_S,
	       supplicant_runs() ? "runs" : "is gone", strerror(why));
	fflush(stdout);
	system("ls -l /proc/[0-9]*/fd 2>/dev/null | grep -c teepriv0; ps");
	for (int i = 0; i < count; i++)
		printf("client %d waits in %s; its call: %s\n", (int)clients[i],
		       read_line(clients[i], "wchan", where, sizeof(where)),
		       read_line(clients[i], "syscall", state, sizeof(state)));
	return 1;
}

static unsigned int all_opened(void)
{
	return tally->opened[KEPT] + tally->opened[OWN] + tally->opened[SINGLE];
}

static void print_tally(uint64_t begin, int killed, int restarts)
{
	printf("%u sessions opened (%u of a loaded TA, %u loaded a TA, %u of a single instance "
	       "that one loads), %u refused (last 0x%08x), %d clients killed, tee-supplicant "
	       "started anew %d times, the longest %u ms, %u s\n",
	       all_opened(), tally->opened[KEPT], tally->opened[OWN], tally->opened[SINGLE],
	       tally->refused, tally->last_error, killed, restarts, tally->longest_ms,
	       (unsigned int)((now_ms() - begin) / 1000));
}

/*
 * Arguments: clients, seconds, a seed, how ("calm", "killed": clients are
 * killed, and tee-supplicant is started again when it ended of itself, or
 * "restarted": tee-supplicant is killed, too), and of how many openings one is
 * of a TA that isn't loaded already (1: all are).
 */
int check_opens(char **argv)
{
	int count = atoi(argv[0]), killed = 0, restarts = 0, status = 0;
	bool restart = !strcmp(argv[3], "restarted");
	bool kills = restart || !strcmp(argv[3], "killed");
	uint64_t begin, end, moved, told;
	pid_t clients[MOST_CLIENTS], keeper = 0;
	unsigned int seen = 0;

	if (count < 1 || count > MOST_CLIENTS)
		die("1 to %d clients", MOST_CLIENTS);
	tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (tally == MAP_FAILED)
		die("no memory");
	dice = strtoull(argv[2], 0, 10);
	one_in = (unsigned int)atoi(argv[4]);
	if (!one_in)
		die("one opening in 1 or more loads a TA");
	if (one_in > 1)
		keeper = start_keeper();
	while (keeper && !tally->keeps) {
		if (waitpid(keeper, NULL, WNOHANG) == keeper)
			return 2;
		usleep(20000);
	}
	begin = moved = told = now_ms();
	end = begin + 1000 * strtoull(argv[1], 0, 10);
	for (int i = 0; i < count; i++)
		clients[i] = start_client();
	while (now_ms() < end) {
		usleep(20000);
		if (tally->calls != seen) {
			seen = tally->calls;
			moved = now_ms();
		} else if (now_ms() - moved > 1000 * SILENCE_S) {
			status = report_hang(clients, count);
			break;
		}
		if (now_ms() - told > 60000) {
			told = now_ms();
			print_tally(begin, killed, restarts);
		}
		if (!kills)
			continue;
		if (!roll(KILL_MS / 20)) {
			kill(clients[roll(count)], SIGKILL);
			killed++;
		}
		for (int i = 0; i < count; i++)
			if (waitpid(clients[i], NULL, WNOHANG) == clients[i])
				clients[i] = start_client();
		/* It ends by itself where a client dies while a TA is read. */
		if ((restart && !roll(RESTART_MS / 20)) || (!roll(10) && !supplicant_runs()))
			restarts += restart_supplicant();
	}
	tally->over = true;
	/* tee-supplicant would not outlive a client that is killed while its TA is loaded. */
	for (int i = 0; i < count && (kills || status); i++)
		kill(clients[i], SIGKILL);
	if (keeper)
		kill(keeper, SIGKILL);
	/* Those that hang can't be waited for. */
	for (int i = 0; i < count && !status; i++)
		waitpid(clients[i], NULL, 0);
	print_tally(begin, killed, restarts);
	return status || !all_opened();
}

/* Opens a session of a TA when all clients are ready, some microseconds later. */
static pid_t start_first(const TEEC_UUID *uuid, unsigned int delay_us)
{
	pid_t pid = fork();
	TEEC_Context own;
	TEEC_Session s;
	TEEC_Result res;

	if (pid)
		return pid;
	res = TEEC_InitializeContext(NULL, &own);
	tally->calls++;
	while (!tally->keeps)
		;
	usleep(delay_us);
	if (!res)
		res = TEEC_OpenSession(&own, &s, uuid, TEEC_LOGIN_PUBLIC, NULL, NULL, NULL);
	if (res) {
		tally->refused++;
		tally->last_error = res;
		_exit(1);
	}
	tally->opened[OWN]++;
	TEEC_CloseSession(&s);
	_exit(0);
}

/*
 * Arguments: rounds, a seed, and the folder of tee-supplicant's files. In each
 * round the TEE's files are removed, as on a board that is new, and two clients
 * open the bench and the digest TA at the same moment: each load then writes
 * the TA's version into a file that must be made first.
 */
int check_first(char **argv)
{
	int rounds = atoi(argv[0]), status = 0, done = 0;
	uint64_t begin = now_ms();
	char command[300];

	tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (tally == MAP_FAILED)
		die("no memory");
	dice = strtoull(argv[1], 0, 10);
	snprintf(command, sizeof(command), "rm -rf %s/*", argv[2]);
	for (; done < rounds && !status; done++) {
		pid_t clients[2];
		uint64_t limit;
		int left = 2;

		if (system(command))
			die("%s failed", command);
		tally->calls = 0;
		tally->keeps = false;
		for (int i = 0; i < 2; i++)
			clients[i] = start_first(&own_tas[i], roll(3) ? roll(300) : roll(20000));
		while (tally->calls < 2)
			usleep(100);
		tally->keeps = true;
		limit = now_ms() + 1000 * SILENCE_S;
		while (left && now_ms() < limit) {
			usleep(1000);
			for (int i = 0; i < 2; i++)
				left -= waitpid(clients[i], NULL, WNOHANG) == clients[i];
		}
		if (left)
			status = report_hang(clients, 2);
	}
	printf("%d rounds of two first openings, %u sessions opened, %u refused (last 0x%08x), "
	       "%u s\n",
	       done, tally->opened[OWN], tally->refused, tally->last_error,
	       (unsigned int)((now_ms() - begin) / 1000));
	return status || tally->refused || !tally->opened[OWN];
}
