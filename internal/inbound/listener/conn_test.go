package listener

import (
	"net"
	"testing"
	"testing/synctest"
	"time"
)

func TestASessionOfAStrangerEndsAfterTenMinutesWhateverTheDeadlineOfACommand(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		defer func() { _ = theirs.Close() }()
		c := newConn(ours, true, nil, func() {})
		began := time.Now()
		written := make(chan struct{})
		go func() {
			defer close(written)
			for {
				if _, err := theirs.Write([]byte("x")); err != nil {
					return
				}
				time.Sleep(20 * time.Second) //nolint:forbidigo // the client's pace, in a bubble
			}
		}()
		for {
			_ = c.SetDeadline(time.Now().Add(idle))
			if _, err := c.Read(make([]byte, 1)); err != nil {
				break
			}
		}
		if took := time.Since(began); took != maxSession {
			t.Errorf("ended after %v", took)
		}
		_ = c.Close()
		<-written
	})
}
