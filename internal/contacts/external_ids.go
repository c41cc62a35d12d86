package contacts

import (
	"context"
	"errors"

	"github.com/funnelwork/funnelwork/internal/compare"
	"github.com/funnelwork/funnelwork/internal/externalid"
	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// externalIDsOf returns the external ids of all contacts.
func externalIDsOf(all []*Contact) []externalid.Key {
	var keys []externalid.Key
	for _, c := range all {
		keys = append(keys, c.ExternalIDs.Keys()...)
	}
	return keys
}

// contactsOf returns the contacts as the changes leave them.
func contactsOf(all []Change) []*Contact {
	out := make([]*Contact, len(all))
	for i := range all {
		out[i] = &all[i].Contact
	}
	return out
}

// releaseExternalIDs queues the release of the external ids that the changes take from their contacts.
func releaseExternalIDs(tx *postgres.Tx, all []Change) {
	var records []id.ID
	var keys []externalid.Key
	for i := range all {
		for _, k := range all[i].before.ExternalIDs.Keys() {
			if all[i].ExternalIDs[k.System] != k.Value {
				records = append(records, all[i].ID)
				keys = append(keys, k)
			}
		}
	}
	externalid.Releases(tx, externalid.Contact, records, keys)
}

// holders are the live contacts that have addresses and external ids of others.
type holders struct {
	addresses map[string]id.ID
	keys      map[externalid.Key]id.ID
}

// findHolders returns the live contacts that have the rows' addresses and external ids.
func findHolders(ctx context.Context, tx *postgres.Tx, rows []Row) (h holders, err error) {
	if h.addresses, err = findAddressHolders(ctx, tx, rows); err != nil {
		return h, err
	}
	var keys []externalid.Key
	for i := range rows {
		keys = append(keys, rows[i].ExternalIDs.Keys()...)
	}
	h.keys, err = externalid.Live(ctx, tx, externalid.Contact, keys)
	return h, err
}

// refuse returns the fault for a row whose address or external id another contact has, or nil.
func (h *holders) refuse(r *Row) *fault.Fault {
	if holder, taken := h.addresses[compare.Address(r.Email)]; taken {
		return Exists(holder)
	}
	for _, k := range r.ExternalIDs.Keys() {
		if holder, taken := h.keys[k]; taken {
			return externalid.Exists(externalid.Contact, k, holder)
		}
	}
	return nil
}

// add makes a row a holder.
func (h *holders) add(r *Row) {
	h.addresses[compare.Address(r.Email)] = r.ID
	for _, k := range r.ExternalIDs.Keys() {
		h.keys[k] = r.ID
	}
}

// isTaken reports whether err is the violation of a concurrent write of an address or an external id.
func isTaken(err error) bool {
	_, taken := errors.AsType[*TakenError](err)
	return taken || externalid.Taken(err)
}
