package e2e_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/testkit/strangers"
)

// hostileTime is how long the ordinary load lasts before hostile mail servers join it, and how long these attack.
var hostileTime = flag.Duration("hostile.time", 5*time.Second, "how long hostile mail servers attack")

const (
	hostileOrgs = 20
	// mostHostile is how much memory hostile servers may cost a worker, in KiB. The collector of a busy machine may
	// come late, so the short form allows more.
	mostHostile      = 50 << 10
	mostHostileShort = 150 << 10
)

// hostilePairs are pairs of servers of a mailbox, an SMTP server and an IMAP server. The first two do not get past the
// test of the mailbox, the others get mails to send and are read for incoming ones.
func hostilePairs() [][2]func(*strangers.Conn) {
	line := strangers.Endless("", "250 ", "x")
	smtp := func(phase string, a strangers.Attack) func(*strangers.Conn) {
		return strangers.SMTP(phase, strangers.None, nil, a)
	}
	imap := func(phase string, a strangers.Attack) func(*strangers.Conn) {
		return strangers.IMAP(phase, strangers.None, nil, a)
	}
	return [][2]func(*strangers.Conn){
		{smtp("greeting", strangers.Endless("", "220 ", "x")), imap("greeting", strangers.Endless("", "* OK ", "x"))},
		{
			smtp("EHLO", strangers.Endless("", "", "250-x\r\n")),
			imap("CAPABILITY", strangers.Endless("", "* CAPABILITY", " A1 B2 C3")),
		},
		{smtp("RCPT", line), imap("BODY", strangers.Endless("", "* 1 FETCH (UID 5 BODY[] {24000000}\r\n", "x"))},
		{smtp(".", line), imap("SEARCH", strangers.Endless("", "* SEARCH", " 9 7 5 3 1"))},
		{
			smtp("DATA", strangers.Dripping("", "354 ", "x")),
			imap("FETCH", strangers.Endless("", "", "* 1 FETCH (UID 5 FLAGS (\\Seen \\Draft))\r\n")),
		},
	}
}

// hostileOrg is an org whose mailboxes have hostile servers.
type hostileOrg struct {
	token     string
	mailboxes []string
}

// A hundred mailboxes of twenty orgs have servers that send without end. They cost the worker, which goes on with the
// ordinary load, at most 50 MiB.
func TestAHundredHostileMailServersCostAWorkerLittleMemory(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc to know what a process takes")
	}
	a := newAttacked(t)
	stop := a.startOrdinaryClients()
	defer stop()
	a.wait(*hostileTime)
	before := a.memory()["worker"]

	var orgs []*hostileOrg
	for n := range hostileOrgs {
		orgs = append(orgs, a.hostileOrg(n))
	}
	var senders sync.WaitGroup
	end := time.Now().Add(*hostileTime)
	for _, o := range orgs {
		senders.Go(func() { a.useHostileMailboxes(o, end) })
	}
	peak := 0
	for time.Now().Before(end) {
		a.wait(200 * time.Millisecond)
		peak = max(peak, a.memory()["worker"])
	}
	senders.Wait()
	t.Logf("the worker took %d MiB before, %d at most with the servers", before>>10, peak>>10)
	most := mostHostile
	if *hostileTime < time.Minute {
		most = mostHostileShort
	}
	if peak-before > most {
		t.Errorf("the servers cost %d MiB", (peak-before)>>10)
	}
	if a.failed.Load() > 0 || a.served.Load() == 0 {
		t.Errorf("%d of %d ordinary requests failed", a.failed.Load(), a.served.Load())
	}
}

// create makes a request that creates, and returns a field of the answer.
func (a *attacked) create(path, token, body, field string) string {
	a.Helper()
	status, answer := ask(a.T, "POST", "http://"+a.api+"/api/v1"+path, token, body)
	var got map[string]any
	if err := json.Unmarshal([]byte(answer), &got); err != nil || status >= http.StatusMultipleChoices {
		a.Fatalf("%s: %d %s", path, status, answer)
	}
	text, _ := got[field].(string)
	return text
}

func (a *attacked) hostileOrg(n int) *hostileOrg {
	a.Helper()
	o := &hostileOrg{token: a.create("/auth/signup", "", fmt.Sprintf(
		`{"org_name":"Org %d","email":"o%d@example.com","password":"correct-horse-battery"}`, n, n), "access_token")}
	for i, pair := range hostilePairs() {
		var at [2]string
		for k, talk := range pair {
			s, stop, err := strangers.Serve(talk)
			if err != nil {
				a.Fatal(err)
			}
			a.Cleanup(stop)
			at[k] = fmt.Sprintf(`{"host":%q,"port":%d,"tls":"none","username":"u","password":"p"}`, s.Host, s.Port)
		}
		body := fmt.Sprintf(`{"kind":"smtp","from_email":"b%d@org%d.example","name":"Box","smtp":%s,"imap":%s}`,
			i, n, at[0], at[1])
		o.mailboxes = append(o.mailboxes, a.create("/mailboxes", o.token, body, "id"))
	}
	return o
}

// useHostileMailboxes tests each mailbox and sends a mail from it, again and again.
func (a *attacked) useHostileMailboxes(o *hostileOrg, end time.Time) {
	for n := 0; time.Now().Before(end); n++ {
		contact := a.create("/crm/contacts", o.token, fmt.Sprintf(
			`{"email":"c%d@example.com","first_name":"Ada","last_name":"Lovelace"}`, n), "id")
		for _, mailbox := range o.mailboxes {
			// A mailbox that is not active refuses both.
			_, _ = ask(a.T, "POST", "http://"+a.api+"/api/v1/mailboxes/"+mailbox+"/test", o.token, "{}")
			_, _ = ask(a.T, "POST", "http://"+a.api+"/api/v1/crm/emails", o.token, strings.NewReplacer(
				"CONTACT", contact, "MAILBOX", mailbox).Replace(
				`{"contact_id":"CONTACT","mailbox_id":"MAILBOX","subject":"x","text":"x","purpose":"personal"}`))
		}
		a.wait(time.Second)
	}
}
