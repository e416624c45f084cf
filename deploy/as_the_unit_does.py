#!/usr/bin/env python3
"""Runs a command behind the restrictions of cicerone.service that the kernel keeps for a process.

The unit's system call filter, MemoryDenyWriteExecute=, RestrictNamespaces=, RestrictAddressFamilies=,
NoNewPrivileges=, the empty capability set and the limits are set up as systemd does it, without systemd. So the
server and the child processes that read documents can be tried under them where systemd does not run. What
systemd does with mounts (ProtectSystem= and the like) is left out.

    as_the_unit_does.py UNIT COMMAND [ARGUMENT...]

Needs Debian's python3-seccomp, and systemd-analyze for the groups of system calls.
"""
import ctypes
import errno
import os
import resource
import subprocess
import sys

import seccomp

PR_SET_NO_NEW_PRIVS, PR_CAPBSET_DROP, PR_CAPBSET_READ = 38, 24, 23
PROT_WRITE, PROT_EXEC = 2, 4
SHM_EXEC = 0o100000
NAMESPACES = [0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000, 0x00000080]
FAMILIES = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10, "AF_NETLINK": 16}


def settings(path):
    """The directives of [Service]; those that are given twice are lists of both."""
    found = {}
    section = None
    for line in open(path, encoding="utf-8"):
        line = line.strip()
        if line.startswith("["):
            section = line
        elif section == "[Service]" and "=" in line and not line.startswith("#"):
            name, value = line.split("=", 1)
            found.setdefault(name, []).append(value)
    return found


def calls(words):
    """The system calls that a filter names, its groups resolved."""
    named = set()
    for word in words:
        if not word.startswith("@"):
            named.add(word)
            continue
        listed = subprocess.run(["systemd-analyze", "syscall-filter", word], check=True, capture_output=True, text=True)
        entries = [line.strip() for line in listed.stdout.splitlines()[1:]]
        named |= calls([entry for entry in entries if entry and not entry.startswith("#")])
    return named


def allowed(filters):
    """All lists taken together: the first says whether it allows; `~` takes away."""
    result = set()
    for text in filters:
        words = text.split()
        if text.startswith("~"):
            result -= calls([words[0][1:], *words[1:]])
        else:
            result |= calls(words)
    # What systemd always permits in a list of what is allowed.
    return result | calls(["@default"])


def known(name):
    try:
        return seccomp.resolve_syscall(seccomp.Arch(), name) >= 0
    except (ValueError, TypeError):
        return False


def filters(unit):
    deny = seccomp.ERRNO(errno.EPERM)
    listed = seccomp.SyscallFilter(deny)
    for name in sorted(filter(known, allowed(unit["SystemCallFilter"]))):
        listed.add_rule(seccomp.ALLOW, name)
    yield listed
    further = seccomp.SyscallFilter(seccomp.ALLOW)
    both = PROT_WRITE | PROT_EXEC
    if unit.get("MemoryDenyWriteExecute") == ["yes"]:
        further.add_rule(deny, "mmap", seccomp.Arg(2, seccomp.MASKED_EQ, both, both))
        further.add_rule(deny, "mprotect", seccomp.Arg(2, seccomp.MASKED_EQ, PROT_EXEC, PROT_EXEC))
        further.add_rule(deny, "pkey_mprotect", seccomp.Arg(2, seccomp.MASKED_EQ, PROT_EXEC, PROT_EXEC))
        further.add_rule(deny, "shmat", seccomp.Arg(2, seccomp.MASKED_EQ, SHM_EXEC, SHM_EXEC))
    if unit.get("RestrictNamespaces") == ["yes"]:
        further.add_rule(deny, "unshare")
        further.add_rule(deny, "setns")
        # Its flags lie in memory, where no filter can look.
        further.add_rule(seccomp.ERRNO(errno.ENOSYS), "clone3")
        for flag in NAMESPACES:
            further.add_rule(deny, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, flag, flag))
    yield further
    families = unit.get("RestrictAddressFamilies", [""])[0].split()
    if families:
        numbers = sorted(FAMILIES[family] for family in families)
        sockets = seccomp.SyscallFilter(seccomp.ALLOW)
        for number in set(range(numbers[-1])) - set(numbers):
            sockets.add_rule(seccomp.ERRNO(errno.EAFNOSUPPORT), "socket", seccomp.Arg(0, seccomp.EQ, number))
        sockets.add_rule(seccomp.ERRNO(errno.EAFNOSUPPORT), "socket", seccomp.Arg(0, seccomp.GT, numbers[-1]))
        yield sockets


def drop_capabilities(libc):
    for capability in range(64):
        if libc.prctl(PR_CAPBSET_READ, capability, 0, 0, 0) == 1:
            libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    if os.getuid() == 0:
        # As User= does: another user has no capabilities left.
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)


def main():
    unit, command = settings(sys.argv[1]), sys.argv[2:]
    libc = ctypes.CDLL(None, use_errno=True)
    os.umask(int(unit["UMask"][0], 8))
    files = int(unit["LimitNOFILE"][0])
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard != resource.RLIM_INFINITY:
        files = min(files, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    built = list(filters(unit))
    drop_capabilities(libc)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        sys.exit("no_new_privs cannot be set")
    # The widest last: the list of what is allowed says nothing of loading further filters.
    for program in reversed(built):
        program.load()
    os.execvp(command[0], command)


main()
