package api_test

import (
	"net/http"
	"strings"
	"testing"
)

// waiting is what a record shows of what it waits for.
type waiting struct {
	ID     string
	Reason *string `json:"status_reason"`
	Detail *string `json:"status_detail"`
	Action *string `json:"status_action"`
}

// want fails unless the record waits for a reason, with a detail that has a text. "": it waits for nothing.
func (w *waiting) want(t *testing.T, where, reason, text string) {
	t.Helper()
	switch {
	case reason == "":
		if w.Reason != nil || w.Detail != nil || w.Action != nil {
			t.Errorf("%s waits for %+v", where, w)
		}
	case w.Reason == nil || w.Detail == nil || w.Action == nil:
		t.Errorf("%s waits for nothing, want %s", where, reason)
	case *w.Reason != reason || !strings.Contains(*w.Detail, text) || *w.Action == "":
		t.Errorf("%s: %s, %s, %s; want %s", where, *w.Reason, *w.Detail, *w.Action, reason)
	}
}

// follower is a caller with an active sequence and an enrolment in it.
type follower struct {
	*caller
	t                    *testing.T
	sequence, enrollment string // their addresses
}

// all fails unless the sequence and its enrolment, each read alone and in its list, wait for a reason each.
func (f *follower) all(sequence, enrolment, text string) {
	f.t.Helper()
	for where, reason := range map[string]string{f.sequence: sequence, f.enrollment: enrolment} {
		var w waiting
		f.do(http.MethodGet, where, nil).want(f.t, 200, "").into(f.t, &w)
		w.want(f.t, where, reason, text)
	}
	for where, reason := range map[string]string{
		sequencesPath + "?status=" + f.status(): sequence, f.sequence + "/enrolments": enrolment,
	} {
		var list struct{ Data []waiting }
		f.do(http.MethodGet, where, nil).want(f.t, 200, "").into(f.t, &list)
		if len(list.Data) != 1 {
			f.t.Fatalf("%s: %d records", where, len(list.Data))
		}
		list.Data[0].want(f.t, where, reason, text)
	}
}

func (f *follower) status() string {
	f.t.Helper()
	var s shownSequence
	f.do(http.MethodGet, f.sequence, nil).want(f.t, 200, "").into(f.t, &s)
	return s.Status
}

// silence makes a server of every mailbox silent for so long.
func (f *follower) silence(since string) {
	f.t.Helper()
	f.exec(`INSERT INTO mailbox_silence (org_id, mailbox_id, server, since, detail, next_at)
		SELECT org_id, id, 'imap', now() - $1::interval,
			'The IMAP server imap.shop.example:993 did not respond in time.',
			now() + interval '1 hour' FROM mailbox
		ON CONFLICT (org_id, mailbox_id, server) DO UPDATE SET since = excluded.since`, since)
}

func TestASequenceAndItsEnrolmentsSayWhatTheyWaitFor(t *testing.T) {
	t.Parallel()
	ada := start(t, unlimited).signup()
	f := &follower{caller: ada, t: t, sequence: ada.activeSequence("Welcome")}
	f.enrollment = ada.enrolment(f.sequence, ada.contact("one@acme.example").ID)
	f.all("", "", "")
	f.silence("14 minutes")
	f.all("", "", "")
	tag := f.do(http.MethodGet, f.sequence, nil).Header.Get("ETag")
	own := f.do(http.MethodGet, f.enrollment, nil).Header.Get("ETag")
	f.silence("16 minutes")
	f.all("server_silent", "server_silent", "imap.shop.example")
	f.do(http.MethodGet, f.sequence, nil, "If-None-Match", tag).want(t, 200, "")
	f.do(http.MethodGet, f.enrollment, nil, "If-None-Match", own).want(t, 200, "")

	f.do(http.MethodPost, f.enrollment+"/pause", nil).want(t, 200, "")
	f.all("server_silent", "paused_by_user", "")
	f.do(http.MethodPost, f.enrollment+"/resume", nil).want(t, 200, "")
	f.do(http.MethodPost, f.sequence+"/pause", nil).want(t, 200, "")
	f.all("paused_by_user", "sequence_paused", "")
	f.do(http.MethodPost, f.sequence+"/resume", nil).want(t, 200, "")
	f.exec(`DELETE FROM mailbox_silence`)
	f.exec(`UPDATE mailbox SET status = 'held', status_reason = 'held_by_user'`)
	f.all("held_by_user", "held_by_user", "")
	f.exec(`UPDATE mailbox SET held_until = now()`)
	f.all("", "", "")
	f.silence("1 hour")
	f.do(http.MethodPost, f.enrollment+"/stop", nil).want(t, 200, "")
	f.all("server_silent", "", "imap.shop.example")
}

func TestASequenceSaysHowManyOfItsMailboxesCannotSend(t *testing.T) {
	t.Parallel()
	ada := start(t, unlimited).signup()
	one, two := ada.sandboxMailbox(), ada.sandboxMailbox()
	got := ada.do(http.MethodPost, sequencesPath, `{"name":"Both","mailbox_ids":["`+one+`","`+two+`"],"steps":`+
		welcomeSteps+`}`).want(t, 201, "")
	at := got.Header.Get("Location")
	ada.postalAddress()
	ada.do(http.MethodPost, at+"/activate", nil).want(t, 200, "")
	ada.exec(`UPDATE mailbox SET status = 'disabled', status_reason = 'bounce_rate' WHERE id = $1`, two)
	ada.do(http.MethodPatch, at, `{"mailbox_ids":["`+one+`"]}`).want(t, 200, "") // a draft: not what sends
	var w waiting
	read := ada.do(http.MethodGet, at, nil).want(t, 200, "")
	read.into(t, &w)
	w.want(t, at, "bounce_rate", "1 of its 2 mailboxes cannot send now.")
	ada.do(http.MethodPatch, at, `{"status_reason":null,"status_detail":"x","name":"Two"}`).want(t, 200, "")
}
