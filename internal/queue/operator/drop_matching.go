package operator

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// DropMatching is T14 for all jobs that match f, in batches, for about the given duration. more reports that jobs are
// left and the caller should call again. Jobs that a run holds are skipped.
func (o *Operator) DropMatching(ctx context.Context, by By, f Filter, during time.Duration) (dropped int, more bool,
	err error,
) {
	if strings.TrimSpace(by.Reason) == "" {
		return 0, false, ErrUnreasoned
	}
	if f.Kind == "" && f.Lane == "" && f.Org == nil && f.Error == "" && f.After == nil && f.Before == nil {
		return 0, false, ErrUnfiltered
	}
	f.Kind = o.store.Aliases.Name(f.Kind)
	text, err := json.Marshal(f)
	if err != nil {
		return 0, false, fmt.Errorf("encode filter: %w", err)
	}
	by.Scope = string(text)
	var from *Place
	for end := time.Now().Add(during); ; {
		jobs, next, err := o.Search(ctx, f, actBatch, from)
		if err != nil {
			return dropped, true, err
		}
		keys := make([]Key, len(jobs))
		for i, j := range jobs {
			keys[i] = Key{Org: j.Org, ID: j.ID}
		}
		results, err := o.Drop(ctx, by, keys...)
		for _, r := range results {
			if r == Acted {
				dropped++
			}
		}
		if err != nil || next == nil || time.Now().After(end) {
			return dropped, next != nil, err
		}
		from = next
	}
}
