package events

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// APIVersion is the version of every payload's schema. It equals the version in the API paths.
const APIVersion = "v1"

// Envelope is an event as webhooks, the feed and replays contain it.
type Envelope struct {
	ID         id.ID        `json:"id" format:"uuid" doc:"the same on every attempt; use it to drop duplicates"`
	Type       string       `json:"type" doc:"such as contact.created; decides the form of data.object"`
	APIVersion string       `json:"api_version" doc:"Version of the payload's schema, as in the API's paths: v1"`
	CreatedAt  wire.Time    `json:"created_at" format:"date-time" doc:"When the event was written, with the change"`
	OrgID      id.ID        `json:"org_id" format:"uuid" doc:"Organization in which the event happened"`
	Seq        int64        `json:"seq" doc:"increases per org in feed order, with gaps; 0 in a test send"`
	Actor      Actor        `json:"actor" doc:"Who or what made the change"`
	RequestID  *string      `json:"request_id" doc:"the API request that made the change"`
	Data       EnvelopeData `json:"data" doc:"The changed object and its previous values"`
}

// Actor is the user, API key or system process that made the change.
type Actor struct {
	Type string  `json:"type" enum:"user,api_key,system" doc:"user, api_key, or system for background work"`
	ID   *string `json:"id" doc:"ID of the user or API key; null for system"`
}

// EnvelopeData is the payload of an event.
type EnvelopeData struct {
	Object   any `json:"object" doc:"the object after the change, as the API shows it"`
	Previous any `json:"previous" doc:"the previous values of an update's changed fields; else null"`
}

// encodeData returns the JSON of an object, and of EnvelopeData with it, which has the same bytes.
func encodeData(object, previous any) (encoded, data []byte, err error) {
	if encoded, err = json.Marshal(object); err == nil {
		data, err = withObject(encoded, "previous", previous)
	}
	return encoded, data, err
}

// withObject returns the JSON of an object that is encoded already, and of one more member.
func withObject(encoded []byte, name string, value any) ([]byte, error) {
	other := []byte("null")
	if value != nil {
		var err error
		if other, err = json.Marshal(value); err != nil {
			return nil, err
		}
	}
	return slices.Concat([]byte(`{"object":`), encoded, []byte(`,"`+name+`":`), other, []byte("}")), nil
}

// Stored is an event row.
type Stored struct {
	OrgID     id.ID
	ID        id.ID
	Seq       int64
	Type      string
	ActorType string
	ActorID   string
	RequestID string
	Data      json.RawMessage
	CreatedAt wire.Time
}

// Bytes returns the event's envelope. The same row always gives the same bytes: every delivery attempt signs and sends
// them, the feed shows them, and a replay repeats them.
func (s *Stored) Bytes() []byte {
	b := make([]byte, 0, len(s.Data)+400)
	b = append(b, `{"id":"`...)
	b = append(b, s.ID.String()...)
	b = append(b, `","type":`...)
	b = appendString(b, s.Type)
	b = append(b, `,"api_version":"`+APIVersion+`","created_at":"`...)
	b = append(b, s.CreatedAt.String()...)
	b = append(b, `","org_id":"`...)
	b = append(b, s.OrgID.String()...)
	b = append(b, `","seq":`...)
	b = strconv.AppendInt(b, s.Seq, 10)
	b = append(b, `,"actor":{"type":`...)
	b = appendString(b, s.ActorType)
	b = append(b, `,"id":`...)
	b = appendOrNull(b, s.ActorID)
	b = append(b, `},"request_id":`...)
	b = appendOrNull(b, s.RequestID)
	b = append(b, `,"data":`...)
	b = append(b, s.Data...)
	return append(b, '}')
}

// MarshalJSON returns Bytes. encoding/json leaves them unchanged, because Data is already compact and escaped.
func (s *Stored) MarshalJSON() ([]byte, error) { return s.Bytes(), nil }

func appendString(b []byte, s string) []byte {
	quoted, _ := json.Marshal(s) // strings always encode
	return append(b, quoted...)
}

func appendOrNull(b []byte, s string) []byte {
	if s == "" {
		return append(b, "null"...)
	}
	return appendString(b, s)
}
