package counts

import (
	"context"
	"time"
)

// FoldNow is Fold of all sources, whatever time the last one was.
func (f *Folder) FoldNow(ctx context.Context) error {
	f.next, f.all = time.Time{}, time.Time{}
	return f.Fold(ctx)
}
