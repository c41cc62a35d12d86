package outbox_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/inbound/classify"
	"github.com/funnelwork/funnelwork/internal/inbound/parse"
	"github.com/funnelwork/funnelwork/internal/mailboxes"
	"github.com/funnelwork/funnelwork/internal/outreach/transport"
	"github.com/funnelwork/funnelwork/internal/sandbox/outbox"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

const message = "From: <hello@shop.example>\r\nTo: <%>\r\nSubject: Hello\r\nMessage-ID: <1@shop.example>\r\n" +
	"MIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p>Hello</p><script>alert(1)</script>\r\n"

// run serves until the test ends.
func run(t *testing.T, server *outbox.Server) *outbox.Server {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background()) // ends after the test's connections
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return server
}

func TestSomeRecipientsOfTheSandboxAnswer(t *testing.T) {
	t.Parallel()
	db, box, org := testkit.DB(t), testkit.Box(t), id.New()
	type answer struct {
		org id.ID
		to  string
		raw []byte
	}
	came := make(chan answer, 1)
	server := run(t, outbox.New(db.App, box, func(_ context.Context, org id.ID, to string, raw []byte) error {
		came <- answer{org, to, raw}
		return nil
	}, testkit.Log(t)))
	for local, want := range map[string]string{
		"reply": classify.Human, "ooo": classify.AutoReply, "complain": classify.Complaint,
		"bounce-later": classify.Bounce,
	} {
		raw, err := server.Dial(t.Context(), org)
		if err != nil {
			t.Fatal(err)
		}
		conn, failure := (&transport.Dialer{AllowPrivate: true}).Open(t.Context(), raw, transport.Server{
			TLS: transport.Plain,
		})
		if failure != nil {
			t.Fatal(*failure)
		}
		to := local + "@example.com"
		if r := conn.Send(t.Context(), transport.Envelope{From: "hello@shop.example", To: to},
			[]byte(strings.ReplaceAll(message, "%", to)), func(context.Context) error { return nil },
		); r.Outcome != transport.Sent {
			t.Fatalf("%s: %+v", local, r)
		}
		_ = conn.Close()
		got := <-came
		m := parse.Parse(got.raw)
		is := classify.Of(m)
		if is.Class != want || got.org != org || got.to != "hello@shop.example" {
			t.Errorf("%s: %s to %s", local, is.Class, got.to)
		}
		if named := slices.Concat(m.References, []string{is.Original}); !slices.Contains(named, "1@shop.example") {
			t.Errorf("%s names %v", local, named)
		}
	}
}

func TestTheSandboxTakesMailAndActsByTheLocalPart(t *testing.T) {
	t.Parallel()
	db, box, org := testkit.DB(t), testkit.Box(t), id.New()
	server := run(t, outbox.New(db.App, box, nil, testkit.Log(t)))
	signer := outbox.Signer{App: db.App, Box: box}
	for _, c := range []struct {
		local string
		want  transport.Outcome
		reply string
	}{
		{"ada", transport.Sent, ""},
		{"bounce", transport.NotSentPermanent, "5.1.1"},
		{"soft", transport.NotSentTemporary, "4.2.1"},
		{"drop", transport.Unknown, ""},
		{"slow", transport.Sent, ""},
	} {
		raw, err := server.Dial(t.Context(), org)
		if err != nil {
			t.Fatal(err)
		}
		d := &transport.Dialer{AllowPrivate: true}
		conn, failure := d.Open(t.Context(), raw, transport.Server{TLS: transport.Plain})
		if failure != nil {
			t.Fatal(*failure)
		}
		to := c.local + "@example.com"
		mime, err := signer.Sign(t.Context(), org, &mailboxes.Sending{
			Kind: mailboxes.Sandbox, FromDomain: "shop.example",
		}, []byte(strings.ReplaceAll(message, "%", to)))
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		r := conn.Send(t.Context(), transport.Envelope{From: "hello@shop.example", To: to}, mime,
			func(context.Context) error { return nil })
		_ = conn.Close()
		if took := time.Since(began); r.Outcome != c.want || r.Reply.Enhanced != c.reply && c.reply != "" ||
			c.local == "slow" && took < 5*time.Second {
			t.Errorf("%s: %+v after %v", c.local, r, took)
		}
	}
	page := outbox.Handler(db.System, box, testkit.Log(t))
	get := func(path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		page.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, outbox.Path+path, nil))
		if w.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
		return w
	}
	var list struct {
		Data []struct{ ID, To string }
	}
	if err := json.Unmarshal(get("?format=json").Body.Bytes(), &list); err != nil || len(list.Data) != 3 {
		t.Fatalf("%v, kept %+v, want those to ada, drop and slow", err, list)
	}
	if body := get("").Body.String(); !strings.Contains(body, "This is a sandbox") {
		t.Error(body)
	}
	shown := get(list.Data[0].ID).Body.String()
	for _, want := range []string{"DKIM: pass (d=shop.example", "&lt;script&gt;", "Subject", "<iframe sandbox"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is missing in %s", want, shown)
		}
	}
	html := get(list.Data[0].ID + "/html")
	policy := html.Header().Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "sandbox; default-src 'none'") {
		t.Errorf("the HTML has the policy %q", policy)
	}
}
