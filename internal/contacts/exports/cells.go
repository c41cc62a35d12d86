package exports

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/externalid"
)

// JoinKeys formats tags or segments as one cell: separated by semicolons, or as a JSON array if the separated form
// would not parse back. SplitKeys reads both forms, and also keys separated by commas or vertical bars.
func JoinKeys(keys []string) string {
	joined := strings.Join(keys, ";")
	back := SplitKeys(joined)
	same := len(back) == len(keys)
	for i := range back {
		same = same && back[i] == keys[i]
	}
	if same || len(keys) == 0 {
		return joined
	}
	b, _ := json.Marshal(keys) // strings always encode
	return string(b)
}

// SplitKeys parses a cell of tags or segments. It skips blank elements. An element may be in quotes, which then
// separate nothing inside.
func SplitKeys(cell string) []string {
	var list []string
	if strings.HasPrefix(cell, "[") && json.Unmarshal([]byte(cell), &list) == nil && list != nil {
		return list
	}

	list = []string{}
	for cell != "" {
		var key string
		key, cell = takeKey(cell)
		if key != "" {
			list = append(list, key)
		}
	}

	return list
}

// keySeparators separate tags and segments, which have no commas.
const keySeparators = ",;|"

// takeKey returns the first element of a cell, and what follows its separator.
func takeKey(cell string) (key, rest string) {
	if inner, is := strings.CutPrefix(strings.TrimSpace(cell), `"`); is {
		if end := strings.IndexByte(inner, '"'); end > 0 {
			rest = strings.TrimSpace(inner[end+1:])
			if rest == "" || strings.ContainsAny(rest[:1], keySeparators) {
				return strings.TrimSpace(inner[:end]), rest[min(1, len(rest)):]
			}
		}
	}
	at := strings.IndexAny(cell, keySeparators)
	if at < 0 {
		return strings.TrimSpace(cell), ""
	}
	return strings.TrimSpace(cell[:at]), cell[at+1:]
}

const (
	attribute = "attributes."
	external  = externalid.Member + "."
)

// formatCell formats a field of c for CSV.
func formatCell(c *contacts.Contact, field string) string {
	switch field {
	case "id":
		return c.ID.String()
	case "email":
		return c.Email
	case "first_name":
		return c.FirstName
	case "last_name":
		return c.LastName
	case "company_id":
		if c.CompanyID != nil {
			return c.CompanyID.String()
		}
	case "owner_id":
		if c.OwnerID != nil {
			return c.OwnerID.String()
		}
	case "stage":
		return c.Stage
	case "tag":
		return JoinKeys(c.Tag)
	case "segment":
		return JoinKeys(c.Segment)
	case "lead_score":
		return strconv.FormatFloat(c.LeadScore, 'f', -1, 64)
	case "created_at":
		return c.CreatedAt.String()
	case "updated_at":
		return c.UpdatedAt.String()
	case "archived_at":
		if c.ArchivedAt != nil {
			return c.ArchivedAt.String()
		}
	default:
		if t := contacts.TextNamed(field); t != nil {
			if s := *t.Of(c); s != nil {
				return *s
			}
			return ""
		}
		if part := contacts.ConsentNamed(field); part != nil {
			if c.Consent == nil {
				return ""
			}
			return part.Of(c.Consent)
		}
		if system, is := strings.CutPrefix(field, external); is {
			return c.ExternalIDs[system]
		}
		switch v := c.Attributes[strings.TrimPrefix(field, attribute)].(type) {
		case string:
			return v
		case float64:
			return strconv.FormatFloat(v, 'f', -1, 64)
		case bool:
			return strconv.FormatBool(v)
		}
	}

	return ""
}

// fieldValue returns a field of c for NDJSON.
func fieldValue(c *contacts.Contact, field string) any {
	switch field {
	case "id":
		return c.ID
	case "company_id":
		return c.CompanyID
	case "owner_id":
		return c.OwnerID
	case "tag":
		return c.Tag
	case "segment":
		return c.Segment
	case "lead_score":
		return c.LeadScore
	case "archived_at":
		return c.ArchivedAt
	case "attributes":
		return c.Attributes
	case externalid.Member:
		return c.ExternalIDs
	}

	if key, is := strings.CutPrefix(field, attribute); is {
		return c.Attributes[key]
	}
	if system, is := strings.CutPrefix(field, external); is {
		if value, has := c.ExternalIDs[system]; has {
			return value
		}
		return nil
	}
	if t := contacts.TextNamed(field); t != nil {
		return *t.Of(c)
	}
	if part := contacts.ConsentNamed(field); part != nil && (c.Consent == nil || part.Of(c.Consent) == "") {
		return nil
	}

	return formatCell(c, field)
}
