package main

import "syscall"

// diesWithParent ends the child even where this process has no time to.
func diesWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
