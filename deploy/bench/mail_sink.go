package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"
)

// startSink starts an SMTP server that takes every mail and keeps none, in a process of its own: Postfix's smtp-sink
// where it is installed, or this program.
func (w *world) startSink(ctx context.Context) (address string, err error) {
	address = freeAddress(ctx)
	name := "smtp-sink"
	cmd := exec.CommandContext(ctx, "/usr/sbin/smtp-sink", address, "1000")
	if os.Getuid() == 0 { // which smtp-sink refuses to stay
		cmd.Args = []string{cmd.Path, "-u", "nobody", address, "1000"}
	}
	if _, err := os.Stat(cmd.Path); err != nil {
		self, err := os.Executable()
		if err != nil {
			return "", err
		}
		name = "the bench's own"
		cmd = exec.CommandContext(ctx, self, "sink", address)
	}
	cmd.Stderr, cmd.SysProcAttr = os.Stderr, diesWithParent()
	if err := cmd.Start(); err != nil {
		return "", err
	}
	w.closers = append(w.closers, func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err == nil {
			fmt.Fprintln(os.Stderr, "sink:", name)
			return address, conn.Close()
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return "", err
		}
	}
}

// sink is the process of the bench's own SMTP server.
func sink(ctx context.Context, address string) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		go swallow(conn)
	}
}

// swallow takes the mails of one connection.
func swallow(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	in, body := bufio.NewReader(conn), false
	say := func(line string) { _, _ = conn.Write([]byte(line + "\r\n")) }
	say("220 sink")
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		switch word := strings.ToUpper(line); {
		case body && line == ".\r\n":
			body = false
			say("250 taken")
		case body:
		case strings.HasPrefix(word, "DATA"):
			body = true
			say("354 go on")
		case strings.HasPrefix(word, "QUIT"):
			say("221 bye")
			return
		default:
			say("250 sink")
		}
	}
}
