package api

import "github.com/funnelwork/funnelwork/internal/contacts"

// contactBatchBody is the body of a batch, as the document describes it.
type contactBatchBody struct {
	Contacts []contactRow `json:"contacts" minItems:"1" maxItems:"1000" doc:"Worked in the order sent. A row that is wrong is answered as an error and stops no other"`
}

type contactRows = batchRows[contactBatchBody]

// rows holds the body to the document; see rowsOf.
func (a *App) rows(body *contactRows) ([]contacts.Upsert, error) {
	sent, wrong, err := rowsOf[contactRow](a, body)
	if err != nil {
		return nil, err
	}
	all := make([]contacts.Upsert, len(sent))
	for i := range sent {
		if all[i].Wrong = wrong[i]; all[i].Wrong == nil {
			all[i] = sent[i].upsert()
		}
	}
	return all, nil
}
