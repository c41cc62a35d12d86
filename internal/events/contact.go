package events

import (
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Contact is a person, as the API and the webhooks show them.
type Contact struct {
	ID         id.ID          `json:"id" format:"uuid"`
	Email      string         `json:"email"`
	FirstName  string         `json:"first_name"`
	LastName   string         `json:"last_name"`
	Phone      *string        `json:"phone"`
	JobTitle   *string        `json:"job_title"`
	Source     *string        `json:"source"`
	TimeZone   *string        `json:"time_zone"`
	CompanyID  *id.ID         `json:"company_id" format:"uuid" nullable:"true"`
	Stage      string         `json:"stage"`
	Tag        []string       `json:"tag"`
	Segment    []string       `json:"segment"`
	Attributes map[string]any `json:"attributes"`
	LeadScore  float64        `json:"lead_score" doc:"100 x the model's probability, two decimals"`
	Score      ContactScore   `json:"score"`
	OwnerID    *id.ID         `json:"owner_id" format:"uuid" nullable:"true"`
	CreatedAt  wire.Time      `json:"created_at" format:"date-time"`
	UpdatedAt  wire.Time      `json:"updated_at" format:"date-time"`
	ArchivedAt *wire.Time     `json:"archived_at" format:"date-time"`
}

// ContactScore is the origin of lead_score: the probability and the model.
type ContactScore struct {
	Probability  float64 `json:"probability"`
	Confidence   string  `json:"confidence" enum:"prior,learning,learned"`
	ModelVersion string  `json:"model_version"`
}
