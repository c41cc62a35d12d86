package api_test

import (
	"net/http"
	"testing"
)

// A subscription that began by itself has no state before it.
func TestAnAuditEntryMayHaveANullMember(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	ada := s.signup()
	ada.exec(`
		INSERT INTO audit_log (org_id, id, actor_type, actor_id, action, target_type, target_id, detail, request_id)
		VALUES ($1, gen_random_uuid(), 'system', '', 'billing.repaired', 'subscription', 'sub_1', '{"was": null}', '')`,
		ada.Org)
	ada.do(http.MethodGet, "/api/v1/audit-log", nil).want(t, 200, "")
}
