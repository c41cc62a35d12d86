package httpx

import (
	"cmp"
	"path"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// schemaNouns maps a package to the noun that begins the names of its schemas: a Go name does not repeat its package,
// as in bulk.Action, but a schema has no package.
var schemaNouns = map[string]string{
	"bulk": "Bulk", "duplicates": "Duplicate", "learn": "ScoreModel", "merge": "Contact", "overview": "Overview",
	"sequences": "Sequence", "steps": "Step", "stats": "SequenceStats", "enrolments": "Enrolment",
}

// schemaNames maps the names of Go types that say too little outside their package to those of their schemas.
var schemaNames = map[string]string{
	"ApiKeyName": "APIKeyReference", "BroadcastState": "Broadcast",
	"CompanyRow": "CompanyBatchRow", "ContactRow": "ContactBatchRow",
	"DealRow": "DealBatchRow", "Envelope": "Event", "EnvelopeData": "EventData", "ExportState": "Export",
	"ImportState": "Import", "MailboxState": "Mailbox", "MailboxWithURL": "CreatedMailbox", "OrgName": "OrgReference",
	"SequenceState": "Sequence", "SequenceVersionState": "SequenceVersion", "EnrolmentState": "EnrolmentHistory",
	"EnrolmentListedEnrolment": "ListedEnrolment",
}

// schemaName returns the name of t in the API document. The body of an operation is named after the Go type that holds
// it: an anonymous Body of createExportIn is CreateExportRequest, of portalLinkOut PortalLink. A List of T is TList.
func schemaName(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}

	if strings.HasPrefix(t.Name(), "List[") {
		data, _ := t.FieldByName("Data")
		return schemaName(data.Type.Elem(), "") + "List"
	}

	if t.Name() != "" {
		name := huma.DefaultSchemaNamer(t, hint)
		if noun := schemaNouns[path.Base(t.PkgPath())]; !strings.HasPrefix(name, noun) {
			name = noun + name
		}
		return cmp.Or(schemaNames[name], name)
	}

	name := huma.DefaultSchemaNamer(t, hint)
	if holder, ok := strings.CutSuffix(name, "InBody"); ok {
		return holder + "Request"
	}

	return strings.TrimSuffix(name, "OutBody")
}
