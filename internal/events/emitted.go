package events

import "github.com/funnelwork/funnelwork/internal/id"

// The live events, as their operations announce them. Previous holds an update's changed fields as they were,
// by their names on the wire.

// ContactCreated is contact.created.
type ContactCreated struct{ Contact Contact }

// Type is the name on the wire.
func (ContactCreated) Type() string { return "contact.created" }

// Data is the new contact.
func (e ContactCreated) Data() (object, previous any) { return e.Contact, nil }

// Concerns is the contact.
func (e ContactCreated) Concerns() []id.ID { return []id.ID{e.Contact.ID} }

// ContactUpdated is contact.updated, at most one per contact and request.
type ContactUpdated struct {
	Contact  Contact
	Previous map[string]any
}

// Type is the name on the wire.
func (ContactUpdated) Type() string { return "contact.updated" }

// Data is the contact after the change and what changed.
func (e ContactUpdated) Data() (object, previous any) { return e.Contact, fields(e.Previous) }

// Concerns is the contact.
func (e ContactUpdated) Concerns() []id.ID { return []id.ID{e.Contact.ID} }

// ContactArchived is contact.archived.
type ContactArchived struct{ Contact Contact }

// Type is the name on the wire.
func (ContactArchived) Type() string { return "contact.archived" }

// Data is the contact with its archived_at.
func (e ContactArchived) Data() (object, previous any) { return e.Contact, nil }

// Concerns is the contact.
func (e ContactArchived) Concerns() []id.ID { return []id.ID{e.Contact.ID} }

// ContactRestored is contact.restored.
type ContactRestored struct{ Contact Contact }

// Type is the name on the wire.
func (ContactRestored) Type() string { return "contact.restored" }

// Data is the contact, live again.
func (e ContactRestored) Data() (object, previous any) { return e.Contact, nil }

// Concerns is the contact.
func (e ContactRestored) Concerns() []id.ID { return []id.ID{e.Contact.ID} }

// ContactPurged is contact.purged. Nothing but the id remains.
type ContactPurged struct{ Purge Purge }

// Type is the name on the wire.
func (ContactPurged) Type() string { return "contact.purged" }

// Data is the id.
func (e ContactPurged) Data() (object, previous any) { return e.Purge, nil }

// ContactMerged is contact.merged: all that is told of the losers, which are archived by it.
type ContactMerged struct{ Merge Merge }

// Type is the name on the wire.
func (ContactMerged) Type() string { return "contact.merged" }

// Data is who was folded into whom.
func (e ContactMerged) Data() (object, previous any) { return e.Merge, nil }

// Concerns are all of them.
func (e ContactMerged) Concerns() []id.ID { return append([]id.ID{e.Merge.ID}, e.Merge.LoserIDs...) }

// ContactTagged is contact.tagged, beside the contact.updated of the same change.
type ContactTagged struct{ Tagging Tagging }

// Type is the name on the wire.
func (ContactTagged) Type() string { return "contact.tagged" }

// Data is both lists; at least one of them is not empty.
func (e ContactTagged) Data() (object, previous any) { return e.Tagging, nil }

// Concerns is the contact.
func (e ContactTagged) Concerns() []id.ID { return []id.ID{e.Tagging.ContactID} }

// ContactScoreChanged is contact.score_changed.
type ContactScoreChanged struct {
	Contact  Contact
	Previous map[string]any // lead_score and score
}

// Type is the name on the wire.
func (ContactScoreChanged) Type() string { return "contact.score_changed" }

// Data is the contact with its new score, and the old one.
func (e ContactScoreChanged) Data() (object, previous any) { return e.Contact, fields(e.Previous) }

// Concerns is the contact.
func (e ContactScoreChanged) Concerns() []id.ID { return []id.ID{e.Contact.ID} }

// UserJoined is user.joined.
type UserJoined struct{ Member Member }

// Type is the name on the wire.
func (UserJoined) Type() string { return "user.joined" }

// Data is the new member.
func (e UserJoined) Data() (object, previous any) { return e.Member, nil }

// UserRemoved is user.removed.
type UserRemoved struct{ Member Member }

// Type is the name on the wire.
func (UserRemoved) Type() string { return "user.removed" }

// Data is the member as it was.
func (e UserRemoved) Data() (object, previous any) { return e.Member, nil }

// OrganizationUpdated is organization.updated.
type OrganizationUpdated struct {
	Organization Organization
	Previous     map[string]any
}

// Type is the name on the wire.
func (OrganizationUpdated) Type() string { return "organization.updated" }

// Data is the organization after the change and what changed.
func (e OrganizationUpdated) Data() (object, previous any) { return e.Organization, fields(e.Previous) }

// WebhookDisabled is webhook.disabled: the platform, not a person, switched the endpoint off.
type WebhookDisabled struct{ Endpoint Endpoint }

// Type is the name on the wire.
func (WebhookDisabled) Type() string { return "webhook.disabled" }

// Data is the endpoint with its disabled_reason.
func (e WebhookDisabled) Data() (object, previous any) { return e.Endpoint, nil }

// PlanChanged is plan.changed, once for each change that took effect.
type PlanChanged struct {
	Plan     Plan
	Previous map[string]any // plan, interval or status, those that changed
}

// Type is the name on the wire.
func (PlanChanged) Type() string { return "plan.changed" }

// Data is the plan after the change and what changed.
func (e PlanChanged) Data() (object, previous any) { return e.Plan, fields(e.Previous) }

// fields keeps a nil map out of an interface, so that it becomes null.
func fields(m map[string]any) any {
	if m == nil {
		return nil
	}
	return m
}

// QuotaReached is quota.reached: once for each time that use rises to 80 or 100 percent.
type QuotaReached struct{ Quota Quota }

// Type is the name on the wire.
func (QuotaReached) Type() string { return "quota.reached" }

// Data is the quota at that moment.
func (e QuotaReached) Data() (object, previous any) { return e.Quota, nil }

// SocialAccountConnected is social_account.connected: once when an account is new, back, or well again.
type SocialAccountConnected struct{ Account SocialAccount }

// Type is the name on the wire.
func (SocialAccountConnected) Type() string { return "social_account.connected" }

// Data is the account.
func (e SocialAccountConnected) Data() (object, previous any) { return e.Account, nil }

// SocialAccountReauthRequired is social_account.reauth_required.
type SocialAccountReauthRequired struct{ Account SocialAccount }

// Type is the name on the wire.
func (SocialAccountReauthRequired) Type() string { return "social_account.reauth_required" }

// Data is the account.
func (e SocialAccountReauthRequired) Data() (object, previous any) { return e.Account, nil }

// SocialAccountDisconnected is social_account.disconnected.
type SocialAccountDisconnected struct{ Account SocialAccount }

// Type is the name on the wire.
func (SocialAccountDisconnected) Type() string { return "social_account.disconnected" }

// Data is the account as it ended.
func (e SocialAccountDisconnected) Data() (object, previous any) { return e.Account, nil }

// BrandUpdated is brand.updated, once for each change of the settings.
type BrandUpdated struct {
	Brand    Brand
	Previous map[string]any
}

// Type is the name on the wire.
func (BrandUpdated) Type() string { return "brand.updated" }

// Data is the brand after the change and what changed.
func (e BrandUpdated) Data() (object, previous any) { return e.Brand, fields(e.Previous) }

// ConnectEnabled is connect.enabled: once for each time that a reseller's account becomes able to sell.
type ConnectEnabled struct{ Connect Connect }

// Type is the name on the wire.
func (ConnectEnabled) Type() string { return "connect.enabled" }

// Data is the account's state.
func (e ConnectEnabled) Data() (object, previous any) { return e.Connect, nil }

// ConnectRestricted is connect.restricted: once for each time that a reseller's account becomes restricted.
type ConnectRestricted struct{ Connect Connect }

// Type is the name on the wire.
func (ConnectRestricted) Type() string { return "connect.restricted" }

// Data is the account's state.
func (e ConnectRestricted) Data() (object, previous any) { return e.Connect, nil }

// DomainVerified is domain.verified: once for each time that a custom domain comes into service.
type DomainVerified struct{ Domain Domain }

// Type is the name on the wire.
func (DomainVerified) Type() string { return "domain.verified" }

// Data is the domain.
func (e DomainVerified) Data() (object, previous any) { return e.Domain, nil }

// DomainDegraded is domain.degraded: once for each time that the records of a custom domain were lost.
type DomainDegraded struct{ Domain Domain }

// Type is the name on the wire.
func (DomainDegraded) Type() string { return "domain.degraded" }

// Data is the domain with the reason.
func (e DomainDegraded) Data() (object, previous any) { return e.Domain, nil }

// SegmentEntered is segment.entered.
type SegmentEntered struct{ Membership Membership }

// Type is the name on the wire.
func (SegmentEntered) Type() string { return "segment.entered" }

// Data is who entered what.
func (e SegmentEntered) Data() (object, previous any) { return e.Membership, nil }

// Concerns is the contact.
func (e SegmentEntered) Concerns() []id.ID { return []id.ID{e.Membership.ContactID} }

// SegmentLeft is segment.left.
type SegmentLeft struct{ Membership Membership }

// Type is the name on the wire.
func (SegmentLeft) Type() string { return "segment.left" }

// Data is who left what.
func (e SegmentLeft) Data() (object, previous any) { return e.Membership, nil }

// Concerns is the contact.
func (e SegmentLeft) Concerns() []id.ID { return []id.ID{e.Membership.ContactID} }

// ScoreModelTrained is score_model.trained: once per version that came into use.
type ScoreModelTrained struct{ Model ScoreModel }

// Type is the name on the wire.
func (ScoreModelTrained) Type() string { return "score_model.trained" }

// Data is the version with its metrics.
func (e ScoreModelTrained) Data() (object, previous any) { return e.Model, nil }
