package secret

import "time"

// Forget makes the next call check the file again.
func (b *Sealer) Forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.looked = time.Time{}
}
