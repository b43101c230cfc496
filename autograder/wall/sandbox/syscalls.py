"""Allow list of system calls for student code, in a seccomp filter; others are refused.

A line is the name of a call, its number on x86_64 and on aarch64; "-" where the machine
has no such call. ``seccomp`` makes a filter of them, and looks at some arguments.
"""

from __future__ import annotations

FILES = """
read 0 63
write 1 64
readv 19 65
writev 20 66
pread64 17 67
pwrite64 18 68
preadv 295 69
pwritev 296 70
preadv2 327 286
pwritev2 328 287
open 2 -
creat 85 -
openat 257 56
close 3 57
close_range 436 436
lseek 8 62
stat 4 -
fstat 5 80
lstat 6 -
newfstatat 262 79
statx 332 291
access 21 -
faccessat 269 48
faccessat2 439 439
readlink 89 -
readlinkat 267 78
getdents 78 -
getdents64 217 61
getcwd 79 17
chdir 80 49
fchdir 81 50
mkdir 83 -
mkdirat 258 34
rmdir 84 -
unlink 87 -
unlinkat 263 35
rename 82 -
renameat 264 38
renameat2 316 276
link 86 -
linkat 265 37
symlink 88 -
symlinkat 266 36
mknod 133 -
mknodat 259 33
ftruncate 77 46
fallocate 285 47
fsync 74 82
fdatasync 75 83
sync_file_range 277 84
flock 73 32
fcntl 72 25
ioctl 16 29
umask 95 166
dup 32 23
dup2 33 -
dup3 292 24
pipe 22 -
pipe2 293 59
sendfile 40 71
splice 275 76
tee 276 77
copy_file_range 326 285
statfs 137 43
fstatfs 138 44
fadvise64 221 223
readahead 187 213
"""

# They change a file by its path or by a descriptor that is open for reading, which
# Landlock does not look at.
ATTRIBUTES = """
truncate 76 45
chmod 90 -
fchmod 91 52
fchmodat 268 53
fchmodat2 452 452
chown 92 -
lchown 94 -
fchown 93 55
fchownat 260 54
utime 132 -
utimes 235 -
futimesat 261 -
utimensat 280 88
"""

# Answered as on a file system that has no such attributes.
EXTENDED_ATTRIBUTES = """
getxattr 191 8
lgetxattr 192 9
fgetxattr 193 10
listxattr 194 11
llistxattr 195 12
flistxattr 196 13
setxattr 188 5
lsetxattr 189 6
fsetxattr 190 7
"""

MEMORY = """
mmap 9 222
munmap 11 215
mremap 25 216
mprotect 10 226
madvise 28 233
mincore 27 232
msync 26 227
brk 12 214
membarrier 324 283
"""

PROCESSES = """
clone 56 220
fork 57 -
vfork 58 -
execve 59 221
exit 60 93
exit_group 231 94
wait4 61 260
waitid 247 95
getpid 39 172
getppid 110 173
gettid 186 178
getpgid 121 155
getpgrp 111 -
setpgid 109 154
getsid 124 156
setsid 112 157
set_tid_address 218 96
set_robust_list 273 99
rseq 334 293
arch_prctl 158 -
prctl 157 167
futex 202 98
restart_syscall 219 128
getrlimit 97 163
setrlimit 160 164
prlimit64 302 261
getrusage 98 165
times 100 153
getpriority 140 141
setpriority 141 140
sched_yield 24 124
sched_getaffinity 204 123
sched_setaffinity 203 122
sched_getparam 143 121
sched_getscheduler 145 120
sched_get_priority_min 147 126
sched_get_priority_max 146 125
sched_rr_get_interval 148 127
"""

SIGNALS = """
rt_sigaction 13 134
rt_sigprocmask 14 135
rt_sigpending 127 136
rt_sigsuspend 130 133
rt_sigtimedwait 128 137
rt_sigreturn 15 139
sigaltstack 131 132
pause 34 -
"""

# Between processes of one user; only where something else keeps them apart.
SIGNALS_TO_OTHERS = """
kill 62 129
tkill 200 130
tgkill 234 131
"""

ABOUT_ITSELF = """
getuid 102 174
geteuid 107 175
getgid 104 176
getegid 108 177
getresuid 118 148
getresgid 120 150
getgroups 115 158
capget 125 90
uname 63 160
sysinfo 99 179
getrandom 318 278
getcpu 309 168
"""

TIME = """
clock_gettime 228 113
clock_getres 229 114
clock_nanosleep 230 115
nanosleep 35 101
gettimeofday 96 169
time 201 -
alarm 37 -
getitimer 36 102
setitimer 38 103
timer_create 222 107
timer_settime 223 110
timer_gettime 224 108
timer_getoverrun 225 109
timer_delete 226 111
timerfd_create 283 85
timerfd_settime 286 86
timerfd_gettime 287 87
"""

WAITING = """
poll 7 -
ppoll 271 73
select 23 -
pselect6 270 72
epoll_create 213 -
epoll_create1 291 20
epoll_ctl 233 21
epoll_wait 232 -
epoll_pwait 281 22
epoll_pwait2 441 441
eventfd 284 -
eventfd2 290 19
signalfd 282 -
signalfd4 289 74
"""

SOCKETS = """
socketpair 53 199
sendto 44 206
recvfrom 45 207
sendmsg 46 211
recvmsg 47 212
sendmmsg 307 269
recvmmsg 299 243
shutdown 48 210
getsockname 51 204
getpeername 52 205
getsockopt 55 209
setsockopt 54 208
"""

# To where others are; only in a network of its own.
CONNECTIONS = """
socket 41 198
bind 49 200
connect 42 203
listen 50 201
accept 43 202
accept4 288 242
"""

# A process can only shut itself in further with it.
LANDLOCK = """
landlock_restrict_self 446 446
"""

ALWAYS = (FILES, MEMORY, PROCESSES, SIGNALS, ABOUT_ITSELF, TIME, WAITING, SOCKETS)

MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # as the kernel names them


def numbers(group: str, machine: str) -> dict[str, int]:
    """The calls of a group that a machine has, by name."""
    column = list(MACHINES).index(machine)
    rows = [line.split() for line in group.strip().splitlines()]
    return {name: int(n[column]) for name, *n in rows if n[column] != "-"}
