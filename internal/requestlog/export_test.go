package requestlog

import "context"

// WriteBatch is writeBatch for entries that have no id yet.
func (r *Recorder) WriteBatch(ctx context.Context, all []*Entry) error {
	for _, e := range all {
		e.id = idOf(e.At)
	}
	return r.writeBatch(ctx, all)
}

// BodyBytes returns the bytes that are counted against the bound of bodies in memory.
func (r *Recorder) BodyBytes() int64 { return r.bodies.Load() }
