package bulk

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Type is what an action does.
type Type string

// The types.
const (
	Update    Type = "update"     // sets the fields of Patch
	Tag       Type = "tag"        // takes Remove out of the tags and puts Add in
	Segment   Type = "segment"    // the same with static segments
	Archive   Type = "archive"    // as DELETE of each
	Restore   Type = "restore"    // of archived contacts
	RenameTag Type = "rename_tag" // Tag becomes To, where it stands; who has both keeps one
	DeleteTag Type = "delete_tag" // takes Tag out
)

// Action is what is done to each contact.
type Action struct {
	Type   Type           `json:"type" enum:"update,tag,segment,archive,restore,rename_tag,delete_tag"`
	Patch  map[string]any `json:"patch,omitempty" doc:"Of update: the fields that are set; null clears"`
	Add    []string       `json:"add,omitempty" doc:"Of tag and segment"`
	Remove []string       `json:"remove,omitempty" doc:"Of tag and segment"`
	Tag    string         `json:"tag,omitempty" doc:"Of rename_tag and delete_tag"`
	To     string         `json:"to,omitempty" doc:"Of rename_tag"`
}

// Scope is which contacts the action is for.
func (a *Action) Scope() contacts.Scope {
	switch a.Type {
	case Restore:
		return contacts.Archived
	case RenameTag, DeleteTag:
		return contacts.LiveAndArchived
	case Update, Tag, Segment, Archive:
	}
	return contacts.Live
}

// patch is what the action makes of one contact; not for Archive and Restore.
func (a *Action) patch() (func(c *contacts.Contact) contacts.Patch, error) {
	switch a.Type {
	case Update:
		p, err := decode(a.Patch)
		if err != nil {
			return nil, err
		}
		return func(*contacts.Contact) contacts.Patch { return p }, nil
	case Tag:
		return func(c *contacts.Contact) contacts.Patch {
			return contacts.Patch{Tag: wire.Some(changed(c.Tag, a.Add, a.Remove))}
		}, nil
	case Segment:
		return func(c *contacts.Contact) contacts.Patch {
			return contacts.Patch{Segment: wire.Some(changed(c.Segment, a.Add, a.Remove))}
		}, nil
	case DeleteTag:
		return func(c *contacts.Contact) contacts.Patch {
			return contacts.Patch{Tag: wire.Some(changed(c.Tag, nil, []string{a.Tag}))}
		}, nil
	case RenameTag:
		return func(c *contacts.Contact) contacts.Patch { return contacts.Patch{Tag: wire.Some(a.renamed(c.Tag))} }, nil
	case Archive, Restore:
	}
	return nil, fmt.Errorf("no patch for the action %q", a.Type)
}

// changed is keys without those of remove, followed by those of add that are not in it.
func changed(keys, add, remove []string) []string {
	out := make([]string, 0, len(keys)+len(add))
	for _, k := range keys {
		if !slices.Contains(remove, k) {
			out = append(out, k)
		}
	}
	for _, k := range add {
		if !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}

func (a *Action) renamed(tags []string) []string {
	at := slices.Index(tags, a.Tag)
	if at < 0 {
		return tags
	}
	out := slices.Clone(tags)
	if slices.Contains(tags, a.To) {
		return slices.Delete(out, at, at+1)
	}
	out[at] = a.To
	return out
}

// OfPatch is the action that applies p to each; p has been vetted.
func OfPatch(p *contacts.Patch) Action { return Action{Type: Update, Patch: encode(p)} }

// fields are the texts of a patch by their names on the wire.
func fields(p *contacts.Patch) map[string]*wire.Field[string] {
	return map[string]*wire.Field[string]{
		"first_name": &p.FirstName, "last_name": &p.LastName, "phone": &p.Phone, "job_title": &p.JobTitle, "source": &p.Source,
		"time_zone": &p.TimeZone, "company_id": &p.CompanyID, "owner_id": &p.OwnerID, "stage": &p.Stage,
	}
}

func encode(p *contacts.Patch) map[string]any {
	out := map[string]any{}
	for name, f := range fields(p) {
		if f.Set {
			out[name] = f.Value
			if f.Null {
				out[name] = nil
			}
		}
	}
	for name, f := range map[string]wire.Field[[]string]{"tag": p.Tag, "segment": p.Segment} {
		if f.Set {
			out[name] = append([]string{}, f.Value...)
		}
	}
	if p.Attributes.Set {
		out["attributes"] = p.Attributes.Value
		if p.Attributes.Null {
			out["attributes"] = nil
		}
	}
	return out
}

func decode(from map[string]any) (p contacts.Patch, err error) {
	b, err := json.Marshal(from)
	if err != nil {
		return p, fmt.Errorf("read patch: %w", err)
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return p, fmt.Errorf("read patch: %w", err)
	}
	into := map[string]any{"tag": &p.Tag, "segment": &p.Segment, "attributes": &p.Attributes}
	for name, f := range fields(&p) {
		into[name] = f
	}
	for name, value := range raw {
		at, ok := into[name]
		if !ok {
			return p, fmt.Errorf("read patch: no field %q", name)
		}
		if err := json.Unmarshal(value, at); err != nil {
			return p, fmt.Errorf("read patch: %w", err)
		}
	}
	return p, nil
}

// mostKeys is how many keys an action may add, or take out.
const mostKeys = 50

// keys checks the keys of an action and trims them, by the rules of a contact's own.
func keys(in []string, path string) ([]string, error) {
	if len(in) == 0 {
		return nil, nil
	}
	return contacts.Keys(in, path, mostKeys)
}

// noMember says that an action of a's type has no such member, and which it has.
func (a *Action) noMember() string {
	const what = "This type of action has no such member."
	switch a.Type {
	case Tag, Segment:
		return fault.Choices(what, "", []string{"add", "remove"})
	case Update:
		return fault.Choices(what, "", []string{"patch"})
	default:
		return what
	}
}

// Check answers a with its keys as they will be stored, or what is wrong with it; path is the pointer to it.
func (a *Action) Check(path string) (err error) {
	switch a.Type {
	case Tag, Segment:
		if len(a.Add)+len(a.Remove) == 0 {
			return fault.Invalid(path+"add", "required", "Say what is added or removed.")
		}
		if a.Add, err = keys(a.Add, path+"add"); err != nil {
			return err
		}
		if a.Remove, err = keys(a.Remove, path+"remove"); err != nil {
			return err
		}
	case Update:
		if len(a.Patch) == 0 {
			return fault.Invalid(path+"patch", "required", "Say what is changed.")
		}
	case Archive, Restore, RenameTag, DeleteTag:
	}
	for name, is := range map[string]struct{ set, fits bool }{
		"patch":  {a.Patch != nil, a.Type == Update},
		"add":    {a.Add != nil, a.Type == Tag || a.Type == Segment},
		"remove": {a.Remove != nil, a.Type == Tag || a.Type == Segment},
	} {
		if is.set && !is.fits {
			return fault.Invalid(path+name, "unknown_field", a.noMember())
		}
	}
	return nil
}
