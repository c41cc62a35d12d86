package main

import "syscall"

// diesWithParent makes the kernel kill the child when this process ends, even by SIGKILL.
func diesWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
