package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
)

// statement is one captured execution.
type statement struct {
	sql     string
	params  [][]byte
	formats []int16
}

// tap is a proxy between a process and Postgres that records the statements. The floor thus consists of the statements
// that the service really sends.
type tap struct {
	ln     net.Listener
	target string
	wait   sync.WaitGroup

	mu     sync.Mutex
	groups [][]statement // one per Sync
}

// newTap starts a tap. It returns the DATABASE_URL for the process.
func newTap(ctx context.Context, databaseURL string) (*tap, string, error) {
	cfg, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		return nil, "", err
	}
	if !strings.HasPrefix(cfg.Host, "/") {
		return nil, "", errors.New("the private Postgres is expected on a unix socket")
	}
	t := &tap{target: cfg.Host + "/.s.PGSQL.5432"}
	if t.ln, err = new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0"); err != nil {
		return nil, "", err
	}
	t.wait.Go(func() {
		for {
			conn, err := t.ln.Accept()
			if err != nil {
				return
			}
			t.wait.Go(func() { t.serve(ctx, conn) })
		}
	})
	u := url.URL{
		Scheme: "postgres", User: url.User(cfg.User), Host: t.ln.Addr().String(), Path: "/" + cfg.Database,
		RawQuery: "sslmode=disable",
	}
	return t, u.String(), nil
}

// close waits for the connections, which end with the process.
func (t *tap) close() {
	_ = t.ln.Close()
	t.wait.Wait()
}

func (t *tap) serve(ctx context.Context, client net.Conn) {
	defer func() { _ = client.Close() }()
	server, err := new(net.Dialer).DialContext(ctx, "unix", t.target)
	if err != nil {
		return
	}
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(client, server)
		_ = client.Close()
	})
	t.listen(pgproto3.NewBackend(io.TeeReader(client, server), io.Discard))
	_ = server.Close()
	back.Wait()
}

// listen records the client's messages until its side ends.
func (t *tap) listen(b *pgproto3.Backend) {
	if _, err := b.ReceiveStartupMessage(); err != nil {
		return
	}
	prepared := map[string]string{}
	var group []statement
	for {
		message, err := b.Receive()
		if err != nil {
			return
		}
		switch m := message.(type) {
		case *pgproto3.Parse:
			prepared[m.Name] = m.Query
		case *pgproto3.Bind:
			s := statement{sql: prepared[m.PreparedStatement], formats: append([]int16(nil), m.ParameterFormatCodes...)}
			for _, p := range m.Parameters {
				s.params = append(s.params, append([]byte(nil), p...))
				if p == nil {
					s.params[len(s.params)-1] = nil
				}
			}
			group = append(group, s)
		case *pgproto3.Sync:
			if len(group) > 0 {
				t.mu.Lock()
				t.groups = append(t.groups, group)
				t.mu.Unlock()
				group = nil
			}
		}
	}
}

// sent returns how many statements have been sent, and in how many round trips.
func (t *tap) sent() (statements, roundTrips int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, group := range t.groups {
		statements += len(group)
	}
	return statements, len(t.groups)
}

// find returns the newest group with a statement that contains text.
func (t *tap) find(text string) ([]statement, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := len(t.groups) - 1; i >= 0; i-- {
		for _, s := range t.groups[i] {
			if strings.Contains(s.sql, text) {
				return t.groups[i], true
			}
		}
	}
	return nil, false
}
