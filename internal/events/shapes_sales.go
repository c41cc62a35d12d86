package events

import (
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Company is an organization that contacts work for.
type Company struct {
	ID         id.ID      `json:"id" format:"uuid"`
	Name       string     `json:"name"`
	Domain     *string    `json:"domain" doc:"Lower case, in ASCII form; one live company per domain"`
	Website    *string    `json:"website"`
	Industry   *string    `json:"industry"`
	Size       *string    `json:"size" doc:"Free text, such as 11-50"`
	Phone      *string    `json:"phone"`
	OwnerID    *id.ID     `json:"owner_id" format:"uuid" nullable:"true"`
	CreatedAt  wire.Time  `json:"created_at" format:"date-time"`
	UpdatedAt  wire.Time  `json:"updated_at" format:"date-time"`
	ArchivedAt *wire.Time `json:"archived_at" format:"date-time"`
}

// Deal is a sale, open or closed.
type Deal struct {
	ID              id.ID      `json:"id" format:"uuid"`
	Name            string     `json:"name"`
	ContactID       *id.ID     `json:"contact_id" format:"uuid" nullable:"true"`
	CompanyID       *id.ID     `json:"company_id" format:"uuid" nullable:"true"`
	PipelineID      id.ID      `json:"pipeline_id" format:"uuid"`
	StageID         id.ID      `json:"stage_id" format:"uuid"`
	Status          string     `json:"status" enum:"open,won,lost" doc:"The kind of its stage"`
	Amount          int64      `json:"amount" doc:"Minor units of the currency"`
	Currency        string     `json:"currency" doc:"ISO 4217"`
	LostReason      *string    `json:"lost_reason"`
	ExpectedCloseOn *string    `json:"expected_close_on" format:"date"`
	OwnerID         *id.ID     `json:"owner_id" format:"uuid" nullable:"true"`
	ClosedAt        *wire.Time `json:"closed_at" format:"date-time" doc:"When it was won or lost; null while open"`
	CreatedAt       wire.Time  `json:"created_at" format:"date-time"`
	UpdatedAt       wire.Time  `json:"updated_at" format:"date-time"`
	ArchivedAt      *wire.Time `json:"archived_at" format:"date-time"`

	LastOpen *id.ID `json:"-"` // the last open stage; internal
}

// Task is a to-do item.
type Task struct {
	ID          id.ID      `json:"id" format:"uuid"`
	Title       string     `json:"title"`
	Description *string    `json:"description"`
	Status      string     `json:"status" enum:"open,done"`
	Priority    string     `json:"priority" enum:"low,normal,high"`
	DueAt       *wire.Time `json:"due_at" format:"date-time"`
	AssigneeID  *id.ID     `json:"assignee_id" format:"uuid" nullable:"true"`
	ContactID   *id.ID     `json:"contact_id" format:"uuid" nullable:"true"`
	CompanyID   *id.ID     `json:"company_id" format:"uuid" nullable:"true"`
	DealID      *id.ID     `json:"deal_id" format:"uuid" nullable:"true"`
	CompletedAt *wire.Time `json:"completed_at" format:"date-time" doc:"null while it is open"`
	CreatedAt   wire.Time  `json:"created_at" format:"date-time"`
	UpdatedAt   wire.Time  `json:"updated_at" format:"date-time"`
	ArchivedAt  *wire.Time `json:"archived_at" format:"date-time"`
}

// Activity is a note, call or meeting.
type Activity struct {
	ID        id.ID     `json:"id" format:"uuid"`
	Kind      string    `json:"kind" enum:"note,call,meeting"`
	ContactID *id.ID    `json:"contact_id" format:"uuid" nullable:"true"`
	CompanyID *id.ID    `json:"company_id" format:"uuid" nullable:"true"`
	DealID    *id.ID    `json:"deal_id" format:"uuid" nullable:"true"`
	Text      string    `json:"text"`
	At        wire.Time `json:"at" format:"date-time"`
}
