package api_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// audited lists the operations with an entry in the audit log: they decide who may do what, change secrets or what the
// org pays for, or take people's data out of the service or destroy them.
const audited = `
	ad_accounts.connect ad_accounts.disconnect api_keys.create api_keys.revoke auth.accept_invitation
	auth.change_password auth.reset_password auth.signup billing.cancel billing.change_plan billing.resume
	billing.undo_change client_orgs.create client_orgs.create_token client_orgs.detach client_orgs.pause
	client_orgs.resume client_orgs.update connect.create_onboarding_link connect.create_sale contacts.export_data
	contacts.purge domain.claim domain.remove domain.verify exports.create mailboxes.archive mailboxes.create
	mailboxes.hold mailboxes.remove_provider mailboxes.restore mailboxes.resume mailboxes.rotate_inbound_token
	mailboxes.set_provider mailboxes.update members.invite members.remove members.update org.update org_sending.update
	pending_logins.select score_model.rollback sending_domains.create sending_domains.remove sending_domains.rotate
	sending_domains.verify sessions.end social_accounts.connect social_accounts.disconnect suppressions.lift
	webhooks.archive webhooks.create webhooks.replay webhooks.restore webhooks.rotate_secret webhooks.update
	white_label.remove_logo white_label.set_logo white_label.update`

// unaudited lists the other operations that change something or read all of a person's data, by why they have no entry.
var unaudited = map[string]string{
	"an event, a timeline or the row itself tells who did what to the org's data": `
		broadcasts.archive broadcasts.cancel broadcasts.create broadcasts.pause broadcasts.restore broadcasts.resume
		broadcasts.schedule broadcasts.update bulk_changes.cancel bulk_changes.create companies.archive companies.create
		companies.restore companies.update companies.upsert_batch contacts.archive contacts.create contacts.merge
		contacts.request_consent contacts.restore contacts.search contacts.update contacts.upsert_batch
		custom_fields.archive custom_fields.create custom_fields.update deals.archive deals.create deals.restore
		deals.update
		deals.upsert_batch emails.cancel emails.create emails.resolve enrolments.pause enrolments.resume
		enrolments.skip_step enrolments.stop imports.create imports.undo merges.undo messages.update notes.archive
		notes.create notes.restore notes.update pipelines.archive pipelines.create pipelines.restore pipelines.update
		segments.archive segments.create segments.restore segments.update sequences.activate sequences.archive
		sequences.cancel_batch sequences.create sequences.delete sequences.duplicate sequences.enroll sequences.move
		sequences.pause sequences.restore sequences.resume sequences.update suppressions.create suppressions.import
		tags.remove tags.rename tasks.archive tasks.create tasks.restore tasks.update templates.archive templates.create
		templates.restore templates.update threads.update`,
	"it shows, tests, repeats or computes something": `
		ai.classify_reply ai.draft_email ai.suggest_next_action ai.summarize_contact billing.create_portal_link
		billing.preview_plan_change broadcasts.preview broadcasts.test duplicates.search mailboxes.test
		score_model.train templates.preview webhook_deliveries.redeliver webhooks.test`,
	"it is about the caller's own session, names or views": `
		auth.forgot_password auth.login auth.logout auth.refresh auth.switch_org auth.verify_email console.login
		console.logout console.refresh console.switch_org me.update views.delete views.put`,
	"it comes from outside, and what follows from it has the entries": `
		facebook.receive_deauthorization facebook.receive_erasure_request inbound.receive_email inbound.receive_events
		instagram.receive_deauthorization instagram.receive_erasure_request preferences.save
		stripe.receive_connect_event stripe.receive_event subscription.confirm unsubscription.confirm`,
}

// TestEachOperationIsAuditedOrHasAReasonNotToBe makes whoever adds an operation decide.
func TestEachOperationIsAuditedOrHasAReasonNotToBe(t *testing.T) {
	t.Parallel()
	decided := strings.Fields(audited)
	for _, ids := range unaudited {
		decided = append(decided, strings.Fields(ids)...)
	}
	var want []string
	for _, o := range bare(t).Ops {
		if o.Method != "GET" || o.ID == "contacts.export_data" {
			want = append(want, o.ID)
		}
	}
	slices.Sort(decided)
	slices.Sort(want)
	if diff := cmp.Diff(want, decided); diff != "" {
		t.Errorf("operations (-service +decisions):\n%s", diff)
	}
}

// auditEntry is an entry of the audit log.
type auditEntry struct {
	Action string
	Actor  struct{ Type, ID string }
	Target struct{ Type, ID string }
	Detail map[string]any
}

func TestPurgesAndExportsOfContactsAreInTheAuditWithoutPersonalData(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	c := s.signup()
	key := c.key("admin")
	contact := c.contact("secret-person@example.com")
	at := contactsPath + "/" + contact.ID
	location := func(body string) string {
		path := key.do("POST", exportsPath, body).want(t, 202, "").Header.Get("Location")
		return path[strings.LastIndex(path, "/")+1:]
	}
	whole := location(`{"format":"csv"}`)
	part := location(`{"format":"ndjson","filter":{"field":"email","op":"eq","value":"secret-person@example.com"}}`)
	c.do("GET", at+"/data-export", nil).want(t, 200, "")
	key.do("POST", exportsPath, `{"format":"csv","fields":["nothing"]}`).want(t, 422, "")
	c.do("GET", contactsPath+"/"+whole+"/data-export", nil).want(t, 404, "not_found")
	c.do("POST", at+"/purge", nil).want(t, 204, "")
	got := c.do("GET", "/api/v1/audit-log?limit=100", nil).want(t, 200, "")
	if strings.Contains(string(got.Body), "secret-person") {
		t.Errorf("the log has the address of the person: %s", got.Body)
	}
	var log struct{ Data []auditEntry }
	got.into(t, &log)
	user, program := "user "+c.User.String(), "api_key "
	want := []string{
		"contact.purged contact " + contact.ID + " by " + user,
		"contact.data_exported contact " + contact.ID + " by " + user,
		"contacts.exported contact_export " + part + " by " + program + "ndjson filtered",
		"contacts.exported contact_export " + whole + " by " + program + "csv all",
	}
	var have []string
	for _, e := range log.Data {
		line := e.Action + " " + e.Target.Type + " " + e.Target.ID + " by " + e.Actor.Type + " "
		switch {
		case e.Action == "contacts.exported":
			have = append(have, line+e.Detail["format"].(string)+" "+e.Detail["selection"].(string))
		case strings.HasPrefix(e.Action, "contact."):
			have = append(have, line+e.Actor.ID)
		}
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}
