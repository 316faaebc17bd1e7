/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * priority NAME DRIVER NUMBER: gives a driver of the kernel's crypto another
 * priority, over NETLINK_CRYPTO (Linux, crypto/crypto_user.c), for tests that
 * want one to lie.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/cryptouser.h>
#include <linux/netlink.h>

int main(int argc, char **argv)
{
	struct {
		struct nlmsghdr head;
		struct crypto_user_alg alg;
		struct nlattr attribute;
		uint32_t priority;
	} request = { .head = { .nlmsg_len = sizeof(request),
				.nlmsg_type = CRYPTO_MSG_UPDATEALG,
				.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK },
		      .attribute = { .nla_len = NLA_HDRLEN + sizeof(uint32_t),
				     .nla_type = CRYPTOCFGA_PRIORITY_VAL } };
	struct {
		struct nlmsghdr head;
		struct nlmsgerr error;
		char rest[sizeof(request)];
	} answer;
	int fd;

	if (argc != 4)
		return 2;
	snprintf(request.alg.cru_name, sizeof(request.alg.cru_name), "%s", argv[1]);
	snprintf(request.alg.cru_driver_name, sizeof(request.alg.cru_driver_name), "%s", argv[2]);
	request.priority = (uint32_t)strtoul(argv[3], NULL, 10);
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_CRYPTO);
	if (fd < 0 || send(fd, &request, sizeof(request), 0) < 0 ||
	    recv(fd, &answer, sizeof(answer), 0) < 0) {
		fprintf(stderr, "priority: %s\n", strerror(errno));
		return 1;
	}
	close(fd);
	if (answer.head.nlmsg_type != NLMSG_ERROR || answer.error.error) {
		fprintf(stderr, "priority: %s\n", strerror(-answer.error.error));
		return 1;
	}
	return 0;
}
