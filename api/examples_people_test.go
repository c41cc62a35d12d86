package api_test

import (
	"github.com/funnelwork/funnelwork/internal/id"
)

// tellOfPeople records how people sign up, log in and invite others. It returns the owner of a new org.
func (r *recorder) tellOfPeople() *caller {
	r.Helper()
	const email = "ada@example.com"
	anyone := r.stranger()
	var first, second tokens
	r.call(anyone, "auth.signup", `{"org_name":"Analytical Engines","email":"`+email+`","password":"`+goodPassword+
		`","first_name":"Ada","last_name":"Lovelace"}`).into(r, &first)
	r.call(anyone, "auth.verify_email", `{"token":"`+r.link(email)+`"}`)
	r.call(anyone, "auth.login", `{"email":"`+email+`","password":"`+goodPassword+`"}`).into(r, &second)
	r.call(anyone, "auth.refresh", `{"refresh_token":"`+first.RefreshToken+`"}`).into(r, &first)
	r.call(anyone, "auth.logout", `{"refresh_token":"`+first.RefreshToken+`"}`)
	r.call(anyone, "auth.forgot_password", `{"email":"`+email+`"}`)
	r.call(anyone, "auth.reset_password", `{"token":"`+r.link(email)+`","password":"`+goodPassword+`"}`)
	r.call(anyone, "auth.list_public_keys", nil)
	ada := anyone.with(anyone.tokens("login", map[string]string{"email": email, "password": goodPassword}, 200))
	r.tellOfConsole(email, goodPassword, ada.Org.String())
	r.call(ada, "auth.change_password",
		`{"old_password":"`+goodPassword+`","new_password":"another perfectly fine password"}`)
	ada = anyone.with(anyone.tokens("login",
		map[string]string{"email": email, "password": "another perfectly fine password"}, 200))
	r.call(ada, "me.get", nil)
	r.call(ada, "me.update", `{"last_name":"King"}`)
	r.call(ada, "me.list_orgs", nil)
	r.call(ada, "sessions.list", nil)
	r.call(ada, "auth.switch_org", `{"org_id":"`+ada.Org.String()+`"}`)
	r.call(ada, "org.get", nil)
	r.call(ada, "org.update", `{"name":"Analytical Engines Ltd"}`)
	r.tellOfMembers(ada)
	r.tellOfKeys(ada)
	return ada
}

func (r *recorder) tellOfMembers(ada *caller) {
	r.Helper()
	const email = "charles@example.com"
	var invited struct{ ID id.ID }
	r.call(ada, "members.invite", `{"email":"`+email+`","role":"member"}`).into(r, &invited)
	r.call(r.stranger(), "auth.accept_invitation", `{"token":"`+r.link(email)+`","password":"`+goodPassword+
		`","first_name":"Charles","last_name":"Babbage"}`)
	r.call(ada, "members.list", nil)
	charles := ada.list()[email].ID.String()
	r.call(ada, "members.get", nil, charles)
	r.call(ada, "members.update", `{"role":"admin"}`, charles)
	r.call(ada, "audit_log.list", nil)
	ada.exec(`INSERT INTO request_log (org_id, id, request_id, method, route, status, code, took_us, user_id, body,
			errors)
		SELECT $1, uuidv7_at(now()), gen_random_uuid()::text, 'POST', '/api/v1/crm/contacts', 422, 'validation_failed',
			1840, gen_random_uuid(), '{"email": "ada@", "first_name": "[redacted]"}',
			'[{"pointer": "#/email", "code": "invalid_format"}]'`, ada.Org)
	r.call(ada, "request_log.list", nil)
}

func (r *recorder) tellOfKeys(ada *caller) {
	r.Helper()
	var key struct{ ID string }
	r.call(ada, "api_keys.create", `{"name":"Newsletter form","role":"member"}`).into(r, &key)
	r.call(ada, "api_keys.list", nil)
	r.call(ada, "api_keys.get", nil, key.ID)
}
