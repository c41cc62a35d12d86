package mailsystem_test

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mail"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/queue"
	"github.com/funnelwork/funnelwork/internal/queue/store"
	"github.com/funnelwork/funnelwork/internal/secret"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/jobs/mailsystem"
)

// office is a database with one mail and its job.
type office struct {
	*testkit.Database
	box      *secret.Sealer
	org, job id.ID
}

func open(t *testing.T) *office {
	t.Helper()
	o := &office{Database: testkit.DB(t), org: id.New(), box: testkit.Box(t)}
	err := o.App.Tx(t.Context(), o.org, func(tx *postgres.Tx) error {
		letter, err := mail.Write(tx, o.box, mail.Verify("bob@example.com", "https://crm.test", "t"))
		if err != nil {
			return err
		}
		return mailsystem.Kind.Add(t.Context(), tx, mailsystem.Args{Mail: letter})
	})
	if err != nil {
		t.Fatal(err)
	}
	o.scan(t, `SELECT id FROM job`, &o.job)
	return o
}

func (o *office) scan(t *testing.T, sql string, dst ...any) {
	t.Helper()
	if err := testkit.Pgx(t, o.URL).QueryRow(t.Context(), sql).Scan(dst...); err != nil {
		t.Fatal(err)
	}
}

// work claims and runs the job, and finishes it on success.
func (o *office) work(t *testing.T, out *mail.SMTP) error {
	t.Helper()
	jobs := store.New(o.App, o.System)
	run, err := jobs.Claim(t.Context(), o.org, o.job)
	if err != nil {
		t.Fatal(err)
	}
	if err := mailsystem.Kind.Handle(mailsystem.Job{DB: o.App, Box: o.box, SMTP: out}.Work).
		Call(t.Context(), run); err != nil {
		return err
	}
	return jobs.Finish(t.Context(), run, store.Completion{Outcome: store.Done})
}

const leftovers = `SELECT (SELECT count(*) FROM sandbox_mail), (SELECT count(body)
	FROM system_mail), (SELECT count(*) FROM system_mail WHERE sent_at IS NOT NULL), (SELECT count(*) FROM job)`

func (o *office) left(t *testing.T) string {
	t.Helper()
	var sandbox, bodies, sent, jobs int
	o.scan(t, leftovers, &sandbox, &bodies, &sent, &jobs)
	return fmt.Sprintf("sandbox %d bodies %d sent %d jobs %d", sandbox, bodies, sent, jobs)
}

func TestWithoutASettingMailEndsInTheSandbox(t *testing.T) {
	t.Parallel()
	o := open(t)
	if err := o.work(t, nil); err != nil {
		t.Fatal(err)
	}
	if got := o.left(t); got != "sandbox 1 bodies 0 sent 1 jobs 0" {
		t.Error(got)
	}
}

func TestWithASettingMailIsSentUnderTheJobsID(t *testing.T) {
	t.Parallel()
	o := open(t)
	addr, lines := listen(t)
	out, err := mail.NewSMTP("smtp://"+addr+"?tls=none", "noreply@crm.test")
	if err != nil {
		t.Fatal(err)
	}
	if err := o.work(t, out); err != nil {
		t.Fatal(err)
	}
	if got := o.left(t); got != "sandbox 0 bodies 0 sent 1 jobs 0" {
		t.Error(got)
	}
	if text := <-lines; !strings.Contains(text, "Message-ID: <"+o.job.String()+"@crm.test>") {
		t.Errorf("sent %q", text)
	}
}

func TestAMailThatCannotBeSentNowKeepsItsBody(t *testing.T) {
	t.Parallel()
	o := open(t)
	out, err := mail.NewSMTP("smtp://127.0.0.1:1?tls=none", "noreply@crm.test")
	if err != nil {
		t.Fatal(err)
	}
	if err := o.work(t, out); err == nil || queue.IsDrop(err) {
		t.Errorf("%v; want another try", err)
	}
	if got := o.left(t); got != "sandbox 0 bodies 1 sent 0 jobs 1" {
		t.Error(got)
	}
}

func TestAJobWithoutAMailIsDone(t *testing.T) {
	t.Parallel()
	run := &queue.Claimed{
		ID: id.New(), Org: id.New(), Kind: "mail.system",
		Raw: []byte(`{"mail":"` + id.New().String() + `"}`), Attempt: 1, MaxAttempts: 10,
	}
	if err := mailsystem.Kind.Handle(mailsystem.Job{DB: testkit.DB(t).App}.Work).Call(t.Context(), run); err != nil {
		t.Errorf("nothing to send is no failure: %v", err)
	}
}

// listen accepts one mail and returns its text.
func listen(t *testing.T) (addr string, text <-chan string) {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	got := make(chan string, 1)
	go func() {
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		say := func(line string) { _, _ = fmt.Fprintf(conn, "%s\r\n", line) }
		say("220 mx.test")
		var mail strings.Builder
		for in, inData := bufio.NewScanner(conn), false; in.Scan(); {
			switch line := in.Text(); {
			case inData && line == ".":
				inData = false
				got <- mail.String()
				say("250 taken")
			case inData:
				mail.WriteString(line + "\n")
			case strings.HasPrefix(line, "DATA"):
				inData = true
				say("354 go on")
			case strings.HasPrefix(line, "QUIT"):
				say("221 bye")
				return
			default:
				say("250 ok")
			}
		}
	}()
	return ln.Addr().String(), got
}
