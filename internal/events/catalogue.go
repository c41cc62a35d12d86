package events

import (
	"encoding/json"
	"reflect"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Type is an event type of the catalogue.
type Type struct {
	Name        string
	Description string // one line: when it fires
	// Live is set if an operation of the product emits the type. A reserved type is shown and can be subscribed to and
	// tested, but Announce refuses it.
	Live    bool
	changes bool // data.previous may hold changed fields
	object  reflect.Type
	sample  any
}

const (
	live     = true
	reserved = false
)

// of returns an entry for a type without previous values.
func of[T any](isLive bool, name string, sample T, description string) Type {
	return Type{Name: name, Description: description, Live: isLive, object: reflect.TypeFor[T](), sample: sample}
}

// changeOf returns an entry for an update type.
func changeOf[T any](isLive bool, name string, sample T, description string) Type {
	t := of(isLive, name, sample, description)
	t.changes = true
	return t
}

// catalogue is the published list. Entries are only added, and schemas only grow.
var catalogue = []Type{
	of(live, "contact.created", sampleContact, "a contact first exists"),
	changeOf(live, "contact.updated", sampleContact, "a field of a contact changed; scores have an event of their own"),
	of(live, "contact.archived", archivedContact, "a contact was archived"),
	of(live, "contact.restored", sampleContact, "a contact's archiving was undone"),
	of(live, "contact.purged", samplePurge, "a contact was erased for good"),
	of(live, "contact.merged", sampleMerge,
		"contacts were folded into a survivor and archived; undoing it is contact.restored of each"),
	of(live, "contact.tagged", sampleTagging,
		"tags were added to or taken from a known contact; beside contact.updated"),
	of(live, "contact.subscribed", sampleContact, "a contact confirmed its consent by the link of a mail"),
	of(live, "contact.unsubscribed", sampleContact, "a contact opted out by link, one click, reply or API"),
	changeOf(live, "contact.score_changed", sampleContact, "a background scoring moved lead_score by 5 points or more"),
	of(live, "company.created", sampleCompany, "a company first exists"),
	changeOf(live, "company.updated", sampleCompany, "a field of a company changed"),
	of(live, "company.archived", archivedCompany, "a company was archived"),
	of(live, "company.restored", sampleCompany, "a company's archiving was undone"),
	of(reserved, "company.merged", sampleMerge, "companies were folded into one"),
	of(live, "deal.created", sampleDeal, "a deal first exists"),
	changeOf(live, "deal.updated", sampleDeal, "a field of a deal other than its stage changed"),
	changeOf(live, "deal.stage_changed", sampleDeal, "a deal's stage moved; comes before won, lost or reopened"),
	of(live, "deal.won", wonDeal, "a deal entered a won stage, once per entry"),
	of(live, "deal.lost", lostDeal, "a deal entered a lost stage, with its reason"),
	of(live, "deal.reopened", sampleDeal, "a deal that was won or lost is open again"),
	of(live, "deal.archived", archivedDeal, "a deal was archived"),
	of(live, "deal.restored", sampleDeal, "a deal's archiving was undone"),
	of(live, "email.sent", sampleEmail,
		"the outgoing server accepted an email, or evidence shows that it did"),
	of(live, "email.delivered", deliveredEmail, "a delivery report confirmed the delivery; most servers send none"),
	of(live, "email.opened", sampleEmail, "the open pixel was loaded; machine tells scanners and prefetching"),
	of(live, "email.clicked", clickedEmail, "a link was followed; machine tells scanners"),
	of(live, "email.replied", repliedEmail, "a person's reply was matched to a sent email"),
	of(live, "email.received", receivedEmail, "an incoming email was stored, matched or not"),
	of(live, "email.bounced", bouncedEmail,
		"an email came back after it was accepted, hard or soft, with the code; a hard one suppressed the address"),
	of(live, "email.complained", complainedEmail, "the recipient reported spam; the address is suppressed"),
	of(live, "email.failed", failedEmail,
		"an email was refused, or was not sent after all tries; a hard bounce_kind suppressed the address"),
	of(live, "email.unknown", unknownEmail,
		"the server's answer to an email was not received; it may have been sent, and is not sent again by itself"),
	of(live, "sequence.activated", sampleSequence, "a sequence went live"),
	of(live, "sequence.paused", sampleSequence, "a sequence was halted by hand or by its mailbox"),
	of(live, "sequence.enrolled", sampleEnrolment, "a contact was enrolled"),
	of(live, "sequence.step_completed", sampleEnrolment, "a step of one enrolment is done"),
	of(live, "sequence.step_reached", sampleEnrolment,
		"an enrolment reached a webhook step; sent to the endpoint of the step alone"),
	of(live, "sequence.replied", sampleEnrolment, "an enrolment was ended by a reply; follows email.replied"),
	of(live, "sequence.finished", sampleEnrolment, "an enrolment ended without a reply, or met its goal"),
	of(live, "sequence.stopped", sampleEnrolment, "an enrolment ended: unsubscribed, bounced, failed or removed"),
	of(live, "segment.entered", sampleMembership,
		"a live contact came to be in a dynamic segment; the first members of a new one are not told"),
	of(live, "segment.left", sampleMembership, "a contact is in a dynamic segment no more, or was archived"),
	of(live, "task.created", sampleTask, "a task was made by a person or a sequence"),
	of(live, "task.completed", doneTask, "a task was done"),
	of(live, "activity.logged", sampleActivity, "a note, call or meeting was recorded"),
	of(live, "import.completed", sampleImport, "an import ended, with its counts"),
	of(live, "export.completed", sampleExport, "an export ended; its file is ready, or it failed"),
	of(live, "score_model.trained", sampleModel, "a new scoring model was promoted, with its metrics"),
	of(live, "user.joined", sampleMember, "an invitation was accepted"),
	of(live, "user.removed", sampleMember, "a membership ended"),
	changeOf(live, "organization.updated", sampleOrganization, "the name or a setting of the organization changed"),
	changeOf(live, "plan.changed", samplePlan, "the plan or its limits changed, once per effective change"),
	of(live, "quota.reached", sampleQuota, "80 or 100 percent of a quota was used"),
	of(live, "social_account.connected", sampleAccount,
		"a social or ad account was connected, or is well again after it was connected anew"),
	of(live, "social_account.reauth_required", brokenAccount, "a social or ad account needs somebody to log in again"),
	of(live, "social_account.disconnected", endedAccount, "a social or ad account was disconnected"),
	of(live, "webhook.disabled", sampleEndpoint, "a webhook endpoint was disabled by the platform, with the reason"),
	of(live, "mailbox.disabled", sampleMailbox, "a mailbox was disabled by the platform, with the reason"),
	of(live, "broadcast.completed", sampleBroadcast, "every email of a broadcast was settled, once per broadcast"),
	changeOf(live, "brand.updated", sampleBrand, "name, logo, colours or another setting of the brand changed"),
	of(live, "domain.verified", sampleDomain, "a custom domain was verified and serves"),
	of(live, "domain.degraded", degradedDomain, "a custom domain's records are no longer right"),
	of(live, "connect.enabled", sampleConnect, "the payment processor enabled the connected account, once per entry"),
	of(live, "connect.restricted", restrictedConnect,
		"the payment processor restricted the connected account, once per entry"),
}

var byName = func() map[string]*Type {
	m := make(map[string]*Type, len(catalogue))
	for i := range catalogue {
		m[catalogue[i].Name] = &catalogue[i]
	}
	return m
}()

// Catalogue returns every type, in the published order.
func Catalogue() []Type { return append([]Type(nil), catalogue...) }

// Unknown returns the error message for an unknown event type, for the client.
func Unknown(name string) string {
	names := make([]string, len(catalogue))
	for i := range catalogue {
		names[i] = catalogue[i].Name
	}
	return fault.Choices("There is no such event type.", name, names) + " GET /api/v1/event-types lists them all."
}

// Count returns the number of live types and the number of all types.
func Count() (live, all int) {
	for _, t := range catalogue {
		if t.Live {
			live++
		}
	}
	return live, len(catalogue)
}

// Lookup returns the type with the name.
func Lookup(name string) (Type, bool) {
	t, ok := byName[name]
	if !ok {
		return Type{}, false
	}
	return *t, true
}

// Sample returns an envelope of this type for a test send. Its data is made up, except for org, event and at; seq is 0.
func (t Type) Sample(org, event id.ID, at wire.Time) (*Stored, error) {
	var previous any
	if t.changes {
		previous = map[string]any{"updated_at": sampleTime}
	}
	data, err := json.Marshal(EnvelopeData{Object: t.sample, Previous: previous})
	if err != nil {
		return nil, err
	}
	return &Stored{OrgID: org, ID: event, Type: t.Name, ActorType: "system", Data: data, CreatedAt: at}, nil
}

// Example returns a Sample with a fixed org, event and time, for the catalogue.
func (t Type) Example() (*Stored, error) { return t.Sample(sampleID(0), sampleID(1), sampleTime) }
