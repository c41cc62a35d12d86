package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/scoring/models"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/jobs/leadscore"
	"github.com/funnelwork/funnelwork/jobs/trackingjudge"
)

const humanAgent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"

// judgeHits decides on the opens and clicks so far, as if ten seconds had passed.
func (c *caller) judgeHits() {
	c.Helper()
	c.exec(`UPDATE email_hit SET at = at - interval '1 minute'`)
	if err := c.DB.App.Tx(c.Context(), c.Org, func(tx *postgres.Tx) error {
		return trackingjudge.Kind.Add(c.Context(), tx, trackingjudge.Args{})
	}); err != nil {
		c.Fatal(err)
	}
	c.workRows(trackingjudge.Handler())
}

func TestTheTimelineOfAContactShowsItsMailAndItsScoreFollows(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	m := correspond(s)
	book := models.NewBook(m.DB.App, testkit.Log(t))
	score := func() (lead float64) {
		t.Helper()
		m.workRows(leadscore.Job{Model: book.In}.Handler())
		var shown struct {
			Lead float64 `json:"lead_score"`
		}
		m.do(http.MethodGet, contactsPath+"/"+m.contact.ID, nil).want(t, 200, "").into(t, &shown)
		return shown.Lead
	}
	var tracked struct{ ID, HTML string }
	m.do(http.MethodPost, emailsPath, `{"contact_id":"`+m.contact.ID+`","mailbox_id":"`+m.mailbox+`","subject":"Looms",
		"html":"<a href='https://shop.example/'>Shop</a>","tracking":{"opens":true,"clicks":true}}`).want(t, 201, "").
		into(t, &tracked)
	m.exec(`UPDATE email SET status = 'unknown', status_reason = 'no_reply', marked_at = now() - interval '1 hour'
		WHERE id = $1`, tracked.ID)
	m.do(http.MethodPost, emailsPath+"/"+tracked.ID+"/resolve", `{"outcome":"sent"}`).want(t, 200, "")
	pixel, link := m.addressIn(tracked.HTML, "/t/o/"), m.addressIn(tracked.HTML, "/t/c/")
	visitor := s.stranger()
	scores := []float64{score()}
	visitor.do(http.MethodHead, link, nil, "User-Agent", "Mozilla/5.0 (compatible; Mimecast)").want(t, 302, "")
	m.judgeHits()
	scores = append(scores, score())
	m.exec(`DELETE FROM email_hit`) // the person comes much later
	visitor.do(http.MethodGet, pixel, nil, "User-Agent", humanAgent).want(t, 200, "")
	visitor.do(http.MethodGet, link, nil, "User-Agent", humanAgent).want(t, 302, "")
	m.judgeHits()
	scores = append(scores, score())
	m.receive(m.reply("ada@example.com", "Yes, let us talk."))
	scores = append(scores, score())
	m.receive(m.bounce("failed", "4.2.2", "452 mailbox full"))
	if scores[1] != scores[0] || scores[2] <= scores[1] || scores[3] <= scores[2] {
		t.Errorf("scores %v: want the same after a machine's click, more after a person's and after a reply", scores)
	}
	var list struct {
		Data []struct {
			Type   string
			Object map[string]any
		}
	}
	m.do(http.MethodGet, contactsPath+"/"+m.contact.ID+"/timeline?types=email.sent,email.opened,email.clicked,"+
		"email.replied,email.bounced", nil).want(t, 200, "").into(t, &list)
	var got []string
	for _, e := range list.Data {
		got = append(got, e.Type)
		if e.Object["machine"] == true {
			t.Errorf("%s of a machine", e.Type)
		}
	}
	const want = "email.bounced email.replied email.clicked email.opened email.sent"
	// The pixel and the link are judged together, in either order.
	either := strings.Replace(want, "email.clicked email.opened", "email.opened email.clicked", 1)
	if all := strings.Join(got, " "); all != want && all != either {
		t.Errorf("the timeline has %s, want %s", all, want)
	}
	var held struct {
		Facts []struct{ Kind string } `json:"email_facts"`
	}
	m.do(http.MethodGet, contactsPath+"/"+m.contact.ID+"/data-export", nil).want(t, 200, "").into(t, &held)
	kinds := map[string]int{}
	for _, f := range held.Facts {
		kinds[f.Kind]++
	}
	if kinds["opened"] != 1 || kinds["clicked"] != 2 || kinds["replied"] != 1 {
		t.Errorf("the export has %v", kinds)
	}
	m.do(http.MethodPost, contactsPath+"/"+m.contact.ID+"/purge", nil).want(t, 204, "")
	for _, left := range []string{
		"email_fact WHERE org_id = $1 AND contact_id IS NOT NULL", "email_link WHERE org_id = $1",
		"email_hit WHERE org_id = $1", "message WHERE org_id = $1", "message_raw WHERE org_id = $1",
		"thread WHERE org_id = $1",
	} {
		if n := s.count(left, m.Org); n > 0 {
			t.Errorf("%d rows of %s after the purge", n, left)
		}
	}
}
