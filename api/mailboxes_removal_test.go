package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestAMailboxInUseIsDeletedOnlyWithAnotherOneThatTakesOver(t *testing.T) {
	t.Parallel()
	ada := start(t, unlimited).signup()
	old := ada.box(`{"kind":"sandbox","from_email":"old@sandbox.localhost"}`)
	heir := ada.box(`{"kind":"sandbox","from_email":"new@sandbox.localhost"}`)
	off := ada.box(smtpBody) // unverified
	var email struct {
		ID        string
		MailboxID string `json:"mailbox_id"`
		Status    string
	}
	ada.do(http.MethodPost, "/api/v1/crm/emails", map[string]any{
		"contact_id": ada.person(), "mailbox_id": old.ID, "subject": "Hello", "text": "Hello",
		"scheduled_at": time.Now().Add(time.Hour).UTC().Format(time.RFC3339),
	}).want(t, 201, "").into(t, &email)

	one := boxesPath + "/" + old.ID
	var problem struct {
		UsedBy []struct{ Kind, ID, Name string } `json:"used_by"`
	}
	ada.do(http.MethodDelete, one, nil).want(t, 409, "in_use").into(t, &problem)
	if len(problem.UsedBy) != 1 || problem.UsedBy[0].Kind != "email" || problem.UsedBy[0].ID != email.ID ||
		problem.UsedBy[0].Name != "Hello" {
		t.Errorf("used_by is %+v", problem.UsedBy)
	}
	for _, to := range []string{off.ID, old.ID, "00000000-0000-7000-8000-000000000000"} {
		ada.do(http.MethodDelete, one+"?reassign_to="+to, nil).want(t, 409, "mailbox_not_active")
	}
	ada.do(http.MethodDelete, one+"?reassign_to=x", nil).want(t, 400, "invalid_parameter")
	ada.do(http.MethodGet, one, nil).want(t, 200, "")

	ada.do(http.MethodDelete, one+"?reassign_to="+heir.ID, nil).want(t, 204, "")
	ada.do(http.MethodGet, one, nil).want(t, 404, "not_found")
	ada.do(http.MethodGet, "/api/v1/crm/emails/"+email.ID, nil).want(t, 200, "").into(t, &email)
	if email.MailboxID != heir.ID || email.Status != "scheduled" {
		t.Errorf("the email is %+v", email)
	}
	ada.do(http.MethodDelete, one, nil).want(t, 204, "")
	audit := ada.do(http.MethodGet, "/api/v1/audit-log", nil).want(t, 200, "")
	if !strings.Contains(string(audit.Body), "mailbox.reassigned") {
		t.Errorf("the audit log is %s", audit.Body)
	}
}
