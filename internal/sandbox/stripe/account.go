package stripe

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
)

const kindAccount kind = "account"

// account is a connected account. It starts with all requirements due; the onboarding page fulfils them.
type account struct {
	head
	Business text   `json:"business_type"`
	Charges  bool   `json:"charges_enabled"`
	Country  string `json:"country"`
	Currency string `json:"default_currency"`
	Details  bool   `json:"details_submitted"`
	Email    text   `json:"email"`
	Payouts  bool   `json:"payouts_enabled"`
	Type     string `json:"type"`
	Own      struct {
		State    string   `json:"state"`              // as set on the page
		Deadline moment   `json:"deadline,omitempty"` // for the requirements of Warned and Restricted
		Asked    []string `json:"asked"`              // requested capabilities
		Profile  struct {
			Name text `json:"name"`
			URL  text `json:"url"`
		} `json:"profile"`
	} `json:"_"`
}

// The states of an account.
const (
	Onboarding = "onboarding"
	Review     = "review"
	Restricted = "restricted"
	Enabled    = "enabled"
	Warned     = "warned" // enabled, with requirements due by a deadline
)

// grace is the deadline of a Warned account, in seconds. Nothing happens automatically when it has passed.
const grace = 14 * 86400

// mayTakePayments reports whether the account may take payments.
func (a *account) mayTakePayments() bool { return a.Own.State == Enabled || a.Own.State == Warned }

// capabilityStatus returns the status of every capability.
func (a *account) capabilityStatus() string {
	return map[string]string{
		Onboarding: "inactive", Review: "pending", Restricted: "inactive", Enabled: "active",
		Warned: "active",
	}[a.Own.State]
}

func (*account) objectKind() kind { return kindAccount }

func (a *account) addDerived(_ *tx, w shown, _ expansion) {
	capabilities := shown{}
	for _, name := range a.Own.Asked {
		capabilities[name] = a.capabilityStatus()
	}

	w["capabilities"] = capabilities
	needs := copyNested(shapes()[kindAccount], "requirements")
	switch a.Own.State {
	case Onboarding:
		due := []string{"business_profile.url", "external_account", "tos_acceptance.date", "tos_acceptance.ip"}
		needs["currently_due"] = due
		needs["eventually_due"] = due
		needs["disabled_reason"] = "requirements.past_due"
	case Review:
		needs["pending_verification"] = []string{"company.tax_id"}
		needs["disabled_reason"] = "requirements.pending_verification"
	case Restricted:
		due := []string{"company.tax_id"}
		needs["currently_due"] = due
		needs["past_due"] = due
		needs["eventually_due"] = due
		needs["disabled_reason"] = "requirements.past_due"
		needs["current_deadline"] = a.Own.Deadline
	case Warned:
		due := []string{"company.tax_id"}
		needs["currently_due"] = due
		needs["eventually_due"] = due
		needs["current_deadline"] = a.Own.Deadline
	}

	w["requirements"] = needs
	profile := copyNested(shapes()[kindAccount], "business_profile")
	profile["name"] = a.Own.Profile.Name
	profile["url"] = a.Own.Profile.URL
	w["business_profile"] = profile
	if a.Type != "standard" {
		w["controller"] = json.RawMessage(`{"is_controller":true,"type":"application"}`)
	}

	w["external_accounts"] = listResponse("/v1/accounts/"+a.ID+"/external_accounts", false, nil)
}

func createAccount(tx *tx, c *call) (any, *problem) {
	if tx.account != "" {
		refuse(invalidRequest("", "", "Connected accounts cannot make accounts."))
	}

	a := &account{
		head: head{ID: "acct_" + randomText(16)}, Type: c.enumValue("type", "standard", "express",
			"custom"),
		Country: "US", Currency: "usd",
	}
	if a.Type == "" {
		a.Type = "standard"
	}
	if v := c.text("country"); v != "" {
		a.Country = v
	}

	a.Own.State = Onboarding
	a.readParams(c)
	if a.Type == "standard" && len(a.Own.Asked) == 0 {
		a.Own.Asked = []string{"card_payments", "transfers"}
	}

	tx.put(a)

	return a, nil
}

func (a *account) readParams(c *call) {
	if v, ok := c.optionalText("email"); ok {
		a.Email = text(v)
	}

	if v, ok := c.optionalText("default_currency"); ok {
		a.Currency = v
	}
	if v := c.enumValue("business_type", "company", "individual", "non_profit",
		"government_entity"); v != "" {
		a.Business = text(v)
	}

	profile := c.group("business_profile")
	for name, at := range map[string]*text{"name": &a.Own.Profile.Name, "url": &a.Own.Profile.URL} {
		if v, ok := profile.optionalText(name); ok {
			*at = text(v)
		}
	}

	wanted := c.group("capabilities")
	for _, name := range []string{"card_payments", "transfers"} {
		if wanted.group(name).isTrue("requested") && !slices.Contains(a.Own.Asked, name) {
			a.Own.Asked = append(a.Own.Asked, name)
		}
	}

	a.Metadata = c.metadata(a.Metadata)
}

// accountAt returns an account that the platform may see. If it does not exist, or its owner has disconnected the
// platform, the request is refused as the key's fault: the API does not distinguish the two.
func (tx *tx) accountAt(id string) *account {
	if a := find[account](tx, id); a != nil {
		return a
	}

	refuse(&problem{
		Status: http.StatusForbidden, Type: "invalid_request_error", Code: "account_invalid",
		Message: "The provided key 'sk_test_***' does not have access to account '" + id +
			"' (or that account does not exist). Application access may have been revoked.",
	})
	return nil
}

func getAccount(tx *tx, c *call) (any, *problem) { return tx.accountAt(c.pathID()), nil }

func updateAccount(tx *tx, c *call) (any, *problem) {
	a := tx.accountAt(c.pathID())
	before := tx.renderObject(a, nil)
	a.readParams(c)
	tx.put(a)
	tx.emitAccountUpdated(a, before)
	return a, nil
}

func deleteAccount(tx *tx, c *call) (any, *problem) {
	a := tx.accountAt(c.pathID())
	tx.drop(a)
	return shown{"id": a.ID, "object": string(kindAccount), "deleted": true}, nil
}

// emitAccountUpdated emits an event about a changed account, as an event of that account.
func (tx *tx) emitAccountUpdated(a *account, before shown) {
	now := tx.renderObject(a, nil)
	tx.inAccount(a.ID, func() {
		tx.emitRendered("account.updated", now,
			changedMembers(before, now))
	})
}

// SetAccount sets the state of a connected account, as onboarding or the bank would.
func (s *Sandbox) SetAccount(ctx context.Context, id, state string) error {
	return s.updateAsOperator(ctx, "", func(tx *tx) {
		a := tx.accountAt(id)
		before := tx.renderObject(a, nil)
		a.Own.State = state
		a.Own.Deadline = 0
		switch state {
		case Onboarding, Review, Enabled:
		case Restricted:
			a.Own.Deadline = moment(tx.now)
		case Warned:
			a.Own.Deadline = moment(tx.now + grace)
		default:
			refuse(invalidRequest("to", "",
				"An account is onboarding, review, restricted, enabled or warned."))
		}

		a.Details = state != Onboarding
		a.Charges = a.mayTakePayments()
		a.Payouts = a.mayTakePayments()
		tx.put(a)
		tx.emitAccountUpdated(a, before)
		tx.inAccount(a.ID, func() {
			for _, name := range a.Own.Asked {
				tx.emitRendered("capability.updated", tx.renderCapability(a, name), nil)
			}
		})
	})
}

// Disconnect removes the platform's access to the account, as the account's owner would: the platform can no longer
// read or change any of its objects. Its subscriptions continue, as do the platform's fees on them.
func (s *Sandbox) Disconnect(ctx context.Context, id string) error {
	return s.updateAsOperator(ctx, "", func(tx *tx) {
		a := tx.accountAt(id)
		tx.inAccount(a.ID, func() {
			tx.emitRendered("account.application.deauthorized",
				shown{"id": "ca_sandbox", "object": "application", "name": "Sandbox"}, nil)
		})
		tx.drop(a)
	})
}

func (tx *tx) renderCapability(a *account, name string) shown {
	w := newShape("capability")
	w["object"] = "capability"
	w["id"] = name
	w["account"] = a.ID
	w["requested"] = true
	w["status"] = a.capabilityStatus()
	w["requested_at"] = a.Created

	return w
}

func createAccountLink(tx *tx, c *call) (any, *problem) {
	a := tx.accountAt(c.requiredText("account"))
	if kind := c.enumValue("type", "account_onboarding",
		"account_update"); kind == "account_update" &&
		a.Type == "standard" {
		refuse(invalidRequest("type", "",
			"You cannot create `account_update` type Account Links for this account: its owner changes it in their "+
				"own dashboard."))
	}

	c.requiredText("type")
	again := c.requiredText("refresh_url")
	back := c.requiredText("return_url")
	options := c.group("collection_options")
	options.enumValue("fields", "currently_due", "eventually_due")
	options.enumValue("future_requirements", "include", "omit")
	c.enumValue("collect", "currently_due", "eventually_due")
	link := &accountLink{
		head: head{ID: randomText(32)}, Account: a.ID, Return: back,
		Refresh: again, Expires: tx.now + 300,
	}
	tx.put(link)

	return shown{
		"object": "account_link", "created": tx.now, "expires_at": link.Expires,
		"url": tx.pageURL("onboarding/" + link.ID),
	}, nil
}

// accountLink is a single-use link to the onboarding page.
type accountLink struct {
	head
	Account string `json:"account"`
	Return  string `json:"return"`
	Refresh string `json:"refresh"`
	Expires int64  `json:"expires"`
}

// LinkOf returns the URLs to which an onboarding link, given by the last part of its address, leads back: when
// onboarding is done, and when the link has expired. ok is false if the link was used.
func (s *Sandbox) LinkOf(ctx context.Context, id string) (back, refresh string, ok bool) {
	_, err := s.viewState(ctx, "", func(tx *tx) *problem {
		if link := find[accountLink](tx, id); link != nil {
			back = link.Return
			refresh = link.Refresh
			ok = true
		}
		return nil
	})
	return back, refresh, ok && err == nil
}

func (*accountLink) objectKind() kind { return "sandbox.account_link" }

func createLoginLink(tx *tx, c *call) (any, *problem) {
	a := tx.accountAt(c.pathID())
	if a.Type != "express" {
		refuse(invalidRequest("", "", "Cannot create a login link for an account that is not an Express account."))
	}
	return shown{"object": "login_link", "created": tx.now, "url": tx.s.o.PageURL + "#" + a.ID}, nil
}
