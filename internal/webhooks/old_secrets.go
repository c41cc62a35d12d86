package webhooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// oldSecret is a secret that was replaced and signs along with the current one until its time.
type oldSecret struct {
	Secret string    `json:"secret"`
	Until  wire.Time `json:"until"`
}

// maxOldSecrets is the maximum number of old secrets in force. Each adds a signature to every delivery.
const maxOldSecrets = 10

// several marks the plain text of a column that has several secrets, as JSON. One secret is stored as it is, as
// versions before this one read it. No secret begins so: requests with a NUL are refused.
var several = []byte{0}

// openOldSecrets returns the old secrets in the columns previous_secret and previous_until that are in force at now,
// newest first.
func (s *Service) openOldSecrets(org, endpoint id.ID, sealed []byte, until *time.Time, now time.Time) (
	[]oldSecret, error,
) {
	if sealed == nil || until == nil || !until.After(now) {
		return nil, nil
	}
	plain, err := s.Box.Open(sealed, secretContext(org, endpoint))
	if err != nil {
		return nil, fmt.Errorf("open secret: %w", err)
	}
	list, marked := bytes.CutPrefix(plain, several)
	if !marked {
		return []oldSecret{{string(plain), wire.At(*until)}}, nil
	}

	var all, inForce []oldSecret
	if err := json.Unmarshal(list, &all); err != nil {
		return nil, fmt.Errorf("read old secrets: %w", err)
	}
	for _, old := range all {
		if old.Until.After(now) {
			inForce = append(inForce, old)
		}
	}
	return inForce, nil
}

// sealOldSecrets returns the columns for old secrets. until is when the last of them ends.
func (s *Service) sealOldSecrets(org, endpoint id.ID, all []oldSecret) (sealed []byte, until *wire.Time, err error) {
	if len(all) == 0 {
		return nil, nil, nil
	}
	for _, old := range all {
		if until == nil || old.Until.After(until.Time) {
			until = &old.Until
		}
	}
	plain := []byte(all[0].Secret)
	if len(all) > 1 {
		list, err := json.Marshal(all) //nolint:gosec // the list is sealed
		if err != nil {
			return nil, nil, fmt.Errorf("write old secrets: %w", err)
		}
		plain = append(bytes.Clone(several), list...)
	}
	if sealed, err = s.Box.Seal(plain, secretContext(org, endpoint)); err != nil {
		return nil, nil, fmt.Errorf("seal secret: %w", err)
	}
	return sealed, until, nil
}
