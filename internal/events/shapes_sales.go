package events

import (
	"github.com/funnelwork/funnelwork/internal/externalid"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Company is an organization that contacts work for.
type Company struct {
	ID       id.ID   `json:"id" format:"uuid" doc:"ID of the company"`
	Name     string  `json:"name" doc:"Name of the company, 1 to 200 characters"`
	Domain   *string `json:"domain" doc:"Lower case, in ASCII form; one live company per domain"`
	Website  *string `json:"website" doc:"Address of the company's website; null: none"`
	Industry *string `json:"industry" doc:"Industry, free text; null: unknown"`
	Size     *string `json:"size" doc:"Number of employees as free text, such as 11-50; null: unknown"`
	Phone    *string `json:"phone" doc:"Phone number, free text; null: none"`
	OwnerID  *id.ID  `json:"owner_id" format:"uuid" nullable:"true" doc:"User who owns the company; null: nobody"`

	ExternalIDs externalid.IDs `json:"external_ids"`

	CreatedAt  wire.Time  `json:"created_at" format:"date-time" doc:"When the company was created"`
	UpdatedAt  wire.Time  `json:"updated_at" format:"date-time" doc:"When the company was last edited"`
	ArchivedAt *wire.Time `json:"archived_at" format:"date-time" doc:"When the company was archived; null: it is live"`
}

// Descriptions implements wire.Describer.
func (Company) Descriptions() map[string]string {
	return map[string]string{"external_ids": externalIDsText}
}

// Deal is a sale, open or closed.
type Deal struct {
	ID              id.ID   `json:"id" format:"uuid" doc:"ID of the deal"`
	Name            string  `json:"name" doc:"Name of the deal, 1 to 200 characters"`
	ContactID       *id.ID  `json:"contact_id" format:"uuid" nullable:"true" doc:"Contact of the deal; null: none"`
	CompanyID       *id.ID  `json:"company_id" format:"uuid" nullable:"true"`
	PipelineID      id.ID   `json:"pipeline_id" format:"uuid" doc:"Pipeline that the deal moves through"`
	StageID         id.ID   `json:"stage_id" format:"uuid" doc:"Stage of the pipeline that the deal is in"`
	Status          string  `json:"status" enum:"open,won,lost" doc:"open, won or lost: the kind of its stage"`
	Amount          int64   `json:"amount" doc:"Value of the deal in minor units of currency"`
	Currency        string  `json:"currency" doc:"Currency of amount, ISO 4217"`
	LostReason      *string `json:"lost_reason" doc:"Why the deal was lost; null: not lost, or no reason given"`
	ExpectedCloseOn *string `json:"expected_close_on" format:"date"`
	OwnerID         *id.ID  `json:"owner_id" format:"uuid" nullable:"true"`

	ExternalIDs externalid.IDs `json:"external_ids"`

	Position   string     `json:"position" doc:"Place in its stage: deals are shown in the byte order of it"`
	ClosedAt   *wire.Time `json:"closed_at" format:"date-time" doc:"When it was won or lost; null while open"`
	CreatedAt  wire.Time  `json:"created_at" format:"date-time"`
	UpdatedAt  wire.Time  `json:"updated_at" format:"date-time" doc:"When the deal was last edited"`
	ArchivedAt *wire.Time `json:"archived_at" format:"date-time"`

	LastOpen *id.ID `json:"-"` // the last open stage; internal
}

// Descriptions implements wire.Describer.
func (Deal) Descriptions() map[string]string {
	return map[string]string{
		"company_id":        "Company of the deal; it may name one that does not exist yet; null: none",
		"expected_close_on": "Day on which the deal is expected to close, YYYY-MM-DD; null: unknown",
		"owner_id":          "User who owns the deal; null: nobody",
		"external_ids":      externalIDsText,
		"created_at":        "When the deal was created, or the time that a batch gave",
		"archived_at":       "When the deal was archived; null: it is live",
	}
}

// Task is a to-do item.
type Task struct {
	ID          id.ID      `json:"id" format:"uuid" doc:"ID of the task"`
	Title       string     `json:"title" doc:"What is to be done, 1 to 200 characters"`
	Description *string    `json:"description" doc:"Details, up to 10000 characters; null: none"`
	Status      string     `json:"status" enum:"open,done" doc:"open, or done; completed_at has the time"`
	Priority    string     `json:"priority" enum:"low,normal,high" doc:"Urgency of the task; default normal"`
	DueAt       *wire.Time `json:"due_at" format:"date-time" doc:"When the task is due; null: no deadline"`
	AssigneeID  *id.ID     `json:"assignee_id" format:"uuid" nullable:"true"`
	ContactID   *id.ID     `json:"contact_id" format:"uuid" nullable:"true"`
	CompanyID   *id.ID     `json:"company_id" format:"uuid" nullable:"true"`
	DealID      *id.ID     `json:"deal_id" format:"uuid" nullable:"true"`

	ExternalIDs externalid.IDs `json:"external_ids"`

	CompletedAt *wire.Time `json:"completed_at" format:"date-time" doc:"When the task was done; null while it is open"`
	CreatedAt   wire.Time  `json:"created_at" format:"date-time" doc:"When the task was created"`
	UpdatedAt   wire.Time  `json:"updated_at" format:"date-time" doc:"When the task was last edited"`
	ArchivedAt  *wire.Time `json:"archived_at" format:"date-time" doc:"When the task was archived; null: it is live"`
}

// Descriptions implements wire.Describer.
func (Task) Descriptions() map[string]string {
	return map[string]string{
		"assignee_id":  "User who is to do the task; null: nobody",
		"contact_id":   "The contact that the task is about; null: none",
		"company_id":   "The company that the task is about; null: none",
		"deal_id":      "The deal that the task is about; null: none",
		"external_ids": externalIDsText,
	}
}

// Activity is a note, call or meeting.
type Activity struct {
	ID        id.ID     `json:"id" format:"uuid" doc:"ID of the activity"`
	Kind      string    `json:"kind" enum:"note,call,meeting"`
	ContactID *id.ID    `json:"contact_id" format:"uuid" nullable:"true" doc:"The contact that it is about; null: none"`
	CompanyID *id.ID    `json:"company_id" format:"uuid" nullable:"true" doc:"The company that it is about; null: none"`
	DealID    *id.ID    `json:"deal_id" format:"uuid" nullable:"true" doc:"The deal that it is about; null: none"`
	Text      string    `json:"text" doc:"Text of the note"`
	At        wire.Time `json:"at" format:"date-time" doc:"When it happened"`
}

// Descriptions implements wire.Describer.
func (Activity) Descriptions() map[string]string {
	return map[string]string{
		"kind": "What was logged; a note is the only kind that the API writes",
	}
}
