package events

import "github.com/funnelwork/funnelwork/internal/id"

// The live events. Previous holds the previous values of the fields that an update changed, by JSON name.

// ContactCreated is the event contact.created.
type ContactCreated struct{ Contact Contact }

// Type returns the event type.
func (ContactCreated) Type() string { return "contact.created" }

// Data returns the new contact.
func (e ContactCreated) Data() (object, previous any) { return e.Contact, nil }

// Concerns returns the contact.
func (e ContactCreated) Concerns() []id.ID { return []id.ID{e.Contact.ID} }

// ContactUpdated is the event contact.updated, at most one per contact and request.
type ContactUpdated struct {
	Contact  Contact
	Previous map[string]any
}

// Type returns the event type.
func (ContactUpdated) Type() string { return "contact.updated" }

// Data returns the contact after the change, and the previous values of the changed fields.
func (e ContactUpdated) Data() (object, previous any) { return e.Contact, orNull(e.Previous) }

// Concerns returns the contact.
func (e ContactUpdated) Concerns() []id.ID { return []id.ID{e.Contact.ID} }

// ContactArchived is the event contact.archived.
type ContactArchived struct{ Contact Contact }

// Type returns the event type.
func (ContactArchived) Type() string { return "contact.archived" }

// Data returns the contact with its archived_at.
func (e ContactArchived) Data() (object, previous any) { return e.Contact, nil }

// Concerns returns the contact.
func (e ContactArchived) Concerns() []id.ID { return []id.ID{e.Contact.ID} }

// ContactSubscribed is the event contact.subscribed.
type ContactSubscribed struct{ Contact Contact }

// Type returns the event type.
func (ContactSubscribed) Type() string { return "contact.subscribed" }

// Data returns the contact with its consent.
func (e ContactSubscribed) Data() (object, previous any) { return e.Contact, nil }

// Concerns returns the contact.
func (e ContactSubscribed) Concerns() []id.ID { return []id.ID{e.Contact.ID} }

// ContactUnsubscribed is the event contact.unsubscribed.
type ContactUnsubscribed struct{ Contact Contact }

// Type returns the event type.
func (ContactUnsubscribed) Type() string { return "contact.unsubscribed" }

// Data returns the contact.
func (e ContactUnsubscribed) Data() (object, previous any) { return e.Contact, nil }

// Concerns returns the contact.
func (e ContactUnsubscribed) Concerns() []id.ID { return []id.ID{e.Contact.ID} }

// ContactRestored is the event contact.restored.
type ContactRestored struct{ Contact Contact }

// Type returns the event type.
func (ContactRestored) Type() string { return "contact.restored" }

// Data returns the contact.
func (e ContactRestored) Data() (object, previous any) { return e.Contact, nil }

// Concerns returns the contact.
func (e ContactRestored) Concerns() []id.ID { return []id.ID{e.Contact.ID} }

// ContactPurged is the event contact.purged. Only the id of the contact remains.
type ContactPurged struct{ Purge Purge }

// Type returns the event type.
func (ContactPurged) Type() string { return "contact.purged" }

// Data returns the id.
func (e ContactPurged) Data() (object, previous any) { return e.Purge, nil }

// ContactMerged is the event contact.merged. The merge archives the losers without further events.
type ContactMerged struct{ Merge Merge }

// Type returns the event type.
func (ContactMerged) Type() string { return "contact.merged" }

// Data returns the survivor and the losers.
func (e ContactMerged) Data() (object, previous any) { return e.Merge, nil }

// Concerns returns the survivor and the losers.
func (e ContactMerged) Concerns() []id.ID { return append([]id.ID{e.Merge.ID}, e.Merge.LoserIDs...) }

// ContactTagged is the event contact.tagged, announced in addition to the contact.updated of the same change.
type ContactTagged struct{ Tagging Tagging }

// Type returns the event type.
func (ContactTagged) Type() string { return "contact.tagged" }

// Data returns the added and the removed tags; at least one list is not empty.
func (e ContactTagged) Data() (object, previous any) { return e.Tagging, nil }

// Concerns returns the contact.
func (e ContactTagged) Concerns() []id.ID { return []id.ID{e.Tagging.ContactID} }

// ContactScoreChanged is the event contact.score_changed.
type ContactScoreChanged struct {
	Contact  Contact
	Previous map[string]any // lead_score and score
}

// Type returns the event type.
func (ContactScoreChanged) Type() string { return "contact.score_changed" }

// Data returns the contact with its new score, and the old one.
func (e ContactScoreChanged) Data() (object, previous any) { return e.Contact, orNull(e.Previous) }

// Concerns returns the contact.
func (e ContactScoreChanged) Concerns() []id.ID { return []id.ID{e.Contact.ID} }

// UserJoined is the event user.joined.
type UserJoined struct{ Member Member }

// Type returns the event type.
func (UserJoined) Type() string { return "user.joined" }

// Data returns the new member.
func (e UserJoined) Data() (object, previous any) { return e.Member, nil }

// UserRemoved is the event user.removed.
type UserRemoved struct{ Member Member }

// Type returns the event type.
func (UserRemoved) Type() string { return "user.removed" }

// Data returns the member as it was.
func (e UserRemoved) Data() (object, previous any) { return e.Member, nil }

// OrganizationUpdated is the event organization.updated.
type OrganizationUpdated struct {
	Organization Organization
	Previous     map[string]any
}

// Type returns the event type.
func (OrganizationUpdated) Type() string { return "organization.updated" }

// Data returns the organization after the change, and the previous values of the changed fields.
func (e OrganizationUpdated) Data() (object, previous any) { return e.Organization, orNull(e.Previous) }

// WebhookDisabled is the event webhook.disabled: the platform, not a user, disabled the endpoint.
type WebhookDisabled struct{ Endpoint Webhook }

// Type returns the event type.
func (WebhookDisabled) Type() string { return "webhook.disabled" }

// Data returns the endpoint with its disabled_reason.
func (e WebhookDisabled) Data() (object, previous any) { return e.Endpoint, nil }

// PlanChanged is the event plan.changed, announced once for each change that takes effect.
type PlanChanged struct {
	Plan     Plan
	Previous map[string]any // the changed ones of plan, interval and status
}

// Type returns the event type.
func (PlanChanged) Type() string { return "plan.changed" }

// Data returns the plan after the change, and the previous values of the changed fields.
func (e PlanChanged) Data() (object, previous any) { return e.Plan, orNull(e.Previous) }

// orNull converts a nil map to a nil interface, so that it is encoded as null.
func orNull(m map[string]any) any {
	if m == nil {
		return nil
	}
	return m
}

// QuotaReached is the event quota.reached, announced each time usage rises to 80 or 100 percent.
type QuotaReached struct{ Quota Quota }

// Type returns the event type.
func (QuotaReached) Type() string { return "quota.reached" }

// Data returns the quota at that time.
func (e QuotaReached) Data() (object, previous any) { return e.Quota, nil }

// SocialAccountConnected is the event social_account.connected, announced when an account is connected, reconnected, or
// works again.
type SocialAccountConnected struct{ Account SocialAccount }

// Type returns the event type.
func (SocialAccountConnected) Type() string { return "social_account.connected" }

// Data returns the account.
func (e SocialAccountConnected) Data() (object, previous any) { return e.Account, nil }

// SocialAccountReauthRequired is the event social_account.reauth_required.
type SocialAccountReauthRequired struct{ Account SocialAccount }

// Type returns the event type.
func (SocialAccountReauthRequired) Type() string { return "social_account.reauth_required" }

// Data returns the account.
func (e SocialAccountReauthRequired) Data() (object, previous any) { return e.Account, nil }

// SocialAccountDisconnected is the event social_account.disconnected.
type SocialAccountDisconnected struct{ Account SocialAccount }

// Type returns the event type.
func (SocialAccountDisconnected) Type() string { return "social_account.disconnected" }

// Data returns the account after the disconnection.
func (e SocialAccountDisconnected) Data() (object, previous any) { return e.Account, nil }

// BrandUpdated is the event brand.updated, announced once for each change of the settings.
type BrandUpdated struct {
	Brand    Brand
	Previous map[string]any
}

// Type returns the event type.
func (BrandUpdated) Type() string { return "brand.updated" }

// Data returns the brand after the change, and the previous values of the changed fields.
func (e BrandUpdated) Data() (object, previous any) { return e.Brand, orNull(e.Previous) }

// ConnectEnabled is the event connect.enabled, announced each time a reseller's account becomes able to sell.
type ConnectEnabled struct{ Connect Connect }

// Type returns the event type.
func (ConnectEnabled) Type() string { return "connect.enabled" }

// Data returns the account's state.
func (e ConnectEnabled) Data() (object, previous any) { return e.Connect, nil }

// ConnectRestricted is the event connect.restricted, announced each time a reseller's account becomes restricted.
type ConnectRestricted struct{ Connect Connect }

// Type returns the event type.
func (ConnectRestricted) Type() string { return "connect.restricted" }

// Data returns the account's state.
func (e ConnectRestricted) Data() (object, previous any) { return e.Connect, nil }

// DomainVerified is the event domain.verified, announced each time a custom domain goes into service.
type DomainVerified struct{ Domain Domain }

// Type returns the event type.
func (DomainVerified) Type() string { return "domain.verified" }

// Data returns the domain.
func (e DomainVerified) Data() (object, previous any) { return e.Domain, nil }

// DomainDegraded is the event domain.degraded, announced each time the DNS records of a custom domain are lost.
type DomainDegraded struct{ Domain Domain }

// Type returns the event type.
func (DomainDegraded) Type() string { return "domain.degraded" }

// Data returns the domain with the reason.
func (e DomainDegraded) Data() (object, previous any) { return e.Domain, nil }

// SegmentEntered is the event segment.entered.
type SegmentEntered struct{ Membership Membership }

// Type returns the event type.
func (SegmentEntered) Type() string { return "segment.entered" }

// Data returns the contact and the segment.
func (e SegmentEntered) Data() (object, previous any) { return e.Membership, nil }

// Concerns returns the contact.
func (e SegmentEntered) Concerns() []id.ID { return []id.ID{e.Membership.ContactID} }

// SegmentLeft is the event segment.left.
type SegmentLeft struct{ Membership Membership }

// Type returns the event type.
func (SegmentLeft) Type() string { return "segment.left" }

// Data returns the contact and the segment.
func (e SegmentLeft) Data() (object, previous any) { return e.Membership, nil }

// Concerns returns the contact.
func (e SegmentLeft) Concerns() []id.ID { return []id.ID{e.Membership.ContactID} }

// ScoreModelTrained is the event score_model.trained, announced once per version that goes into use.
type ScoreModelTrained struct{ Model ScoreModel }

// Type returns the event type.
func (ScoreModelTrained) Type() string { return "score_model.trained" }

// Data returns the version with its metrics.
func (e ScoreModelTrained) Data() (object, previous any) { return e.Model, nil }
