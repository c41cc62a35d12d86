package secret

import "time"

// Forget makes the last look at the file long ago.
func (b *Box) Forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.looked = time.Time{}
}
