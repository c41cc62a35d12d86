package api

import "github.com/funnelwork/funnelwork/internal/contacts"

// contactBatchRequest is the body of a batch request, for the API document.
type contactBatchRequest struct {
	Contacts []contactRow `json:"contacts" minItems:"1" maxItems:"1000" doc:"In order; an invalid row fails alone"`
}

type contactRows = batchRows[contactBatchRequest]

// contactUpserts validates the body against the API document; see rowsOf.
func (a *App) contactUpserts(body *contactRows) ([]contacts.Upsert, error) {
	sent, wrong, err := rowsOf[contactRow](a, body)
	if err != nil {
		return nil, err
	}

	all := make([]contacts.Upsert, len(sent))
	for i := range sent {
		if all[i].Wrong = wrong[i]; all[i].Wrong == nil {
			all[i] = sent[i].toUpsert()
		}
	}

	return all, nil
}
