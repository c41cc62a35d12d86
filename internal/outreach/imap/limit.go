package imap

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/funnelwork/funnelwork/internal/outbound"
)

// ErrBusy is the error of a mailbox whose answers the process has no memory for at the moment. The mailbox is not at
// fault: the command may be tried again.
var ErrBusy = errors.New("other mailboxes use the memory for answers of IMAP servers")

// Memory bounds what all connections of a process hold of servers' answers at once. It is safe for concurrent use.
type Memory struct {
	texts    *outbound.Budget // of answers beyond freeText each
	literals *outbound.Budget // beyond freeLiteral each
}

const (
	freeText    = 16 << 10
	freeLiteral = 64 << 10
	textStep    = 16 << 10
	// textMemory is small because the client makes up to 20 bytes of one, for example of the UIDs that a search finds.
	textMemory = 1 << 20
	// literalMemory has room for a mail of the largest size, and for some usual ones beside it.
	literalMemory = 27 << 20
)

// NewMemory returns a Memory that is free.
func NewMemory() *Memory {
	return &Memory{texts: outbound.NewBudget(textMemory), literals: outbound.NewBudget(literalMemory)}
}

// Times of an exchange.
const (
	answerTime  = time.Minute // until the answer to a command is complete, without its large literals
	literalTime = 10 * time.Second
	literalRate = 256 << 10        // bytes a second that a large literal has at least, after literalTime
	busyTime    = 30 * time.Second // that a literal waits for memory
)

// answer bounds what a server may send in answer to a command.
type answer struct {
	lines   int   // including what the server tells without being asked
	text    int   // bytes that are not in a literal
	line    int   // bytes of a line, without its literals
	literal int64 // bytes of all literals
	held    int64 // bytes that are held at once of a literal which is read as it arrives; 0: all of it
}

// The answers to the commands. The client starts a goroutine for each mail that a server describes without being asked,
// as servers do when another client changes flags.
var (
	shortAnswer  = answer{lines: 500, text: 32 << 10, line: 8 << 10, literal: 4 << 10}
	listAnswer   = answer{lines: 10_000, text: 512 << 10, line: 8 << 10, literal: 64 << 10}
	searchAnswer = answer{lines: 500, text: 256 << 10, line: 256 << 10}
	fetchAnswer  = answer{lines: 500, text: 256 << 10, line: 8 << 10, literal: 4 << 10}
)

// limiter bounds the answers that are read from a connection, above TLS. go-imap reads lines and literals of any size.
// Its methods may be called while another goroutine reads.
type limiter struct {
	net.Conn
	raw    *outbound.Conn
	memory *Memory
	ctx    context.Context //nolint:containedctx // ends with the connection, and bounds the waiting in Read
	end    context.CancelFunc

	mu     sync.Mutex
	err    error // that ended the connection
	left   answer
	line   int // bytes left of the line
	free   int // bytes of text that are paid for
	held   int // of memory.texts
	stored int // of memory.literals
	scan   scanner
}

func limit(ctx context.Context, c net.Conn, raw *outbound.Conn, m *Memory) *limiter {
	if m == nil {
		m = NewMemory()
	}
	l := &limiter{Conn: c, raw: raw, memory: m}
	l.ctx, l.end = context.WithCancel(ctx)
	return l
}

// beginAnswer begins an exchange. What the last one has read is no longer used.
func (l *limiter) beginAnswer(a answer) {
	l.mu.Lock()
	l.left, l.line, l.free = a, a.line, freeText
	l.mu.Unlock()
	l.release()
	_ = l.raw.SetDeadline(time.Now().Add(answerTime)) // a closed connection fails when it is used
}

// release gives back the memory of the answers that were read. It is not part of Close, which go-imap calls when the
// server hangs up, while the last answer is still in use.
func (l *limiter) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.memory.texts.Give(l.held)
	l.memory.literals.Give(l.stored)
	l.held, l.stored = 0, 0
}

// Close implements net.Conn.
func (l *limiter) Close() error {
	l.end()
	return l.Conn.Close()
}

// cause returns the error with what ended the connection, which go-imap does not wrap.
func (l *limiter) cause(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil || l.err == nil {
		return err
	}
	return fmt.Errorf("%w: %w", l.err, err)
}

// Read implements net.Conn.
func (l *limiter) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	if errors.Is(err, outbound.ErrTooMuch) || errors.Is(err, os.ErrDeadlineExceeded) {
		return n, l.fail(err)
	}
	for read := p[:n]; len(read) > 0; {
		used, large, wrong := l.count(read)
		if wrong == nil && large > 0 {
			wrong = l.store(large)
		}
		if wrong != nil {
			return 0, l.fail(wrong)
		}
		read = read[used:]
	}
	return n, err
}

func (l *limiter) fail(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = err
	}
	return err
}

// count counts bytes up to the next literal, or of it. large is the size of a literal that needs memory of its own.
func (l *limiter) count(read []byte) (used int, large int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := l.scan.skip(len(read)); n > 0 {
		return n, 0, nil
	}
	for used < len(read) && l.scan.literal == 0 {
		b := read[used]
		used++
		l.left.text--
		l.line--
		l.free--
		if l.left.text < 0 || l.line < 0 {
			return used, 0, outbound.ErrTooMuch
		}
		if l.free < 0 {
			if !l.memory.texts.TryTake(textStep) {
				return used, 0, ErrBusy
			}
			l.held += textStep
			l.free += textStep
		}
		ended, err := l.scan.next(b)
		if err != nil {
			return used, 0, err
		}
		if ended {
			l.line = l.left.line
			l.left.lines--
			if l.left.lines < 0 {
				return used, 0, outbound.ErrTooMuch
			}
		}
	}
	size := l.scan.literal
	if l.left.literal -= size; l.left.literal < 0 {
		return used, 0, outbound.ErrTooMuch
	}
	switch {
	case size <= freeLiteral:
		return used, 0, nil
	case !l.scan.data: // the client would read it as text
		return used, 0, outbound.ErrTooMuch
	}
	return used, size, nil
}

// store reserves memory for a literal, and sets the time in which it must arrive.
func (l *limiter) store(size int64) error {
	ctx, cancel := context.WithTimeout(l.ctx, busyTime)
	defer cancel()
	l.mu.Lock()
	held := l.left.held
	l.mu.Unlock()
	if held == 0 {
		held = size
	}
	n, err := l.memory.literals.Take(ctx, int(min(size, held)))
	if err != nil {
		return ErrBusy
	}
	l.mu.Lock()
	l.stored += n
	l.mu.Unlock()
	return l.raw.SetDeadline(time.Now().Add(literalTime + time.Duration(size/literalRate)*time.Second))
}
