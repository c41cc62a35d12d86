package bulk

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/contacts"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Type is the type of an action.
type Type string

// Types of actions.
const (
	Update    Type = "update"     // sets the fields of Patch
	Tag       Type = "tag"        // removes the tags Remove and adds the tags Add
	Segment   Type = "segment"    // the same for static segments
	Archive   Type = "archive"    // archives each contact, as DELETE does
	Restore   Type = "restore"    // restores archived contacts
	RenameTag Type = "rename_tag" // replaces Tag by To in place; a contact with both keeps one
	DeleteTag Type = "delete_tag" // removes Tag
)

// Action is the operation that a bulk change applies to each contact.
type Action struct {
	Type   Type           `json:"type" enum:"update,tag,segment,archive,restore,rename_tag,delete_tag"`
	Patch  map[string]any `json:"patch,omitempty" doc:"For update: the fields to set; null clears a field"`
	Add    []string       `json:"add,omitempty" doc:"Tags or keys of segments that are added; for tag and segment"`
	Remove []string       `json:"remove,omitempty" doc:"Tags or keys of segments that are removed; for tag and segment"`
	Tag    string         `json:"tag,omitempty" doc:"The tag that is renamed or deleted; for rename_tag and delete_tag"`
	To     string         `json:"to,omitempty" doc:"The new name of the tag; for rename_tag"`

	former []string // spellings of the tag in contacts; see readSpellings
}

// Descriptions implements wire.Describer.
func (Action) Descriptions() map[string]string {
	return map[string]string{
		"type": "Kind of the change; rename_tag and delete_tag come from the operations on tags",
	}
}

// Scope returns the scope of the action: which of the selected contacts it applies to.
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

// patchBuilder returns a function that builds the patch for one contact. It must not be called for Archive and Restore.
func (a *Action) patchBuilder() (func(c *contacts.Contact) contacts.Patch, error) {
	switch a.Type {
	case Update:
		p, err := PatchOf(a.Patch)
		if err != nil {
			return nil, err
		}
		return func(*contacts.Contact) contacts.Patch { return p }, nil
	case Tag:
		return func(c *contacts.Contact) contacts.Patch {
			return contacts.Patch{Tag: wire.Some(changedKeys(c.Tag, a.Add, a.Remove))}
		}, nil
	case Segment:
		return func(c *contacts.Contact) contacts.Patch {
			return contacts.Patch{Segment: wire.Some(changedKeys(c.Segment, a.Add, a.Remove))}
		}, nil
	case DeleteTag:
		return func(c *contacts.Contact) contacts.Patch {
			return contacts.Patch{Tag: wire.Some(changedKeys(c.Tag, nil, append([]string{a.Tag}, a.former...)))}
		}, nil
	case RenameTag:
		return func(c *contacts.Contact) contacts.Patch {
			return contacts.Patch{Tag: wire.Some(a.renamedTags(c.Tag))}
		}, nil
	case Archive, Restore:
	}

	return nil, fmt.Errorf("no patch for the action %q", a.Type)
}

// changedKeys returns keys without the elements of remove, followed by the elements of add that are missing from it.
func changedKeys(keys, add, remove []string) []string {
	out := make([]string, 0, len(keys)+len(add))
	for _, k := range keys {
		if !containsName(remove, k) {
			out = append(out, k)
		}
	}
	for _, k := range add {
		if !containsName(out, k) {
			out = append(out, k)
		}
	}
	return out
}

func containsName(all []string, name string) bool {
	return slices.ContainsFunc(all, func(x string) bool { return compare.Equal(x, name) })
}

// renamedTags returns tags with To for Tag and its spellings. A contact with both keeps To where it is.
func (a *Action) renamedTags(tags []string) []string {
	isOld := func(s string) bool { return s != a.To && (compare.Equal(s, a.Tag) || slices.Contains(a.former, s)) }
	has := slices.Contains(tags, a.To)
	out := make([]string, 0, len(tags))
	for _, s := range tags {
		switch {
		case !isOld(s):
			out = append(out, s)
		case !has:
			out = append(out, a.To)
			has = true
		}
	}
	return out
}

// OfPatch returns the action that applies p to each contact. p must have been validated.
func OfPatch(p *contacts.Patch) Action { return Action{Type: Update, Patch: encodePatch(p)} }

// textFields returns the text fields of a patch by their JSON names.
func textFields(p *contacts.Patch) map[string]*wire.Field[string] {
	all := map[string]*wire.Field[string]{
		"first_name": &p.FirstName, "last_name": &p.LastName, "company_id": &p.CompanyID, "owner_id": &p.OwnerID,
		"stage": &p.Stage,
	}
	for _, t := range contacts.Texts() {
		all[t.Name] = t.In(p)
	}
	return all
}

func encodePatch(p *contacts.Patch) map[string]any {
	out := map[string]any{}
	for name, f := range textFields(p) {
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

// PatchOf returns the patch that was encoded as values by field, as OfPatch does.
func PatchOf(from map[string]any) (p contacts.Patch, err error) {
	b, err := json.Marshal(from)
	if err != nil {
		return p, fmt.Errorf("read patch: %w", err)
	}

	var raw map[string]json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return p, fmt.Errorf("read patch: %w", err)
	}

	into := map[string]any{"tag": &p.Tag, "segment": &p.Segment, "attributes": &p.Attributes}
	for name, f := range textFields(&p) {
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

// mostKeys is the maximum number of keys that an action may add, and that it may remove.
const mostKeys = 50

// checkKeys trims and checks the keys of an action by the rules for a contact's keys.
func checkKeys(in []string, path string) ([]string, error) {
	if len(in) == 0 {
		return nil, nil
	}
	return contacts.Keys(in, path, mostKeys)
}

// noMember returns the message that actions of a's type have no such member, and lists the members they have.
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

// Check validates a and normalizes its keys to their stored form. path is the JSON pointer to a.
func (a *Action) Check(path string) (err error) {
	switch a.Type {
	case Tag, Segment:
		if len(a.Add)+len(a.Remove) == 0 {
			return fault.Invalid(path+"add", "required", "Say what is added or removed.")
		}
		if a.Add, err = checkKeys(a.Add, path+"add"); err != nil {
			return err
		}
		if a.Remove, err = checkKeys(a.Remove, path+"remove"); err != nil {
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
