// Package id creates and parses the ids of all rows: UUIDv7, so that the order of ids is the order of creation.
package id

import (
	"bytes"
	"database/sql/driver"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// ID is a UUID in 16 bytes. pgx sends it as uuid without conversion, and JSON shows it in the usual lower-case form.
// The zero ID is the id of the platform itself.
type ID [16]byte

// New returns a UUIDv7 (RFC 9562) with the current time.
func New() ID { return ID(uuid.Must(uuid.NewV7())) }

// At returns a UUIDv7 with the time t and the given random bits, six of which the version and the variant replace. It
// is for rows about the past.
func At(t time.Time, random [10]byte) ID {
	i := Floor(t)
	copy(i[6:], random[:])
	i[6] = i[6]&0x0f | 0x70
	i[8] = i[8]&0x3f | 0x80
	return i
}

// Parse parses the 36-character form, in either case. Any other form is an error.
func Parse(s string) (ID, error) {
	if len(s) != 36 {
		return ID{}, fmt.Errorf("parse id: want 36 characters, have %d", len(s))
	}
	u, err := uuid.Parse(s)
	if err != nil {
		return ID{}, fmt.Errorf("parse id: %w", err)
	}
	return ID(u), nil
}

// String returns the lower-case form with hyphens.
func (i ID) String() string {
	var b [36]byte
	hex.Encode(b[0:8], i[0:4])
	hex.Encode(b[9:13], i[4:6])
	hex.Encode(b[14:18], i[6:8])
	hex.Encode(b[19:23], i[8:10])
	hex.Encode(b[24:36], i[10:16])
	b[8], b[13], b[18], b[23] = '-', '-', '-', '-'
	return string(b[:])
}

// Compare returns -1, 0 or 1 as a was created before b, is b, or was created after it. Postgres orders ids the same
// way.
func Compare(a, b ID) int { return bytes.Compare(a[:], b[:]) }

// IsZero reports whether i is the zero ID, the id of the platform itself.
func (i ID) IsZero() bool { return i == ID{} }

// Time returns the creation time of a UUIDv7, to the millisecond.
func (i ID) Time() time.Time {
	ms := int64(i[0])<<40 | int64(i[1])<<32 | int64(i[2])<<24 | int64(i[3])<<16 | int64(i[4])<<8 | int64(i[5])
	return time.UnixMilli(ms).UTC()
}

// Floor returns an ID below every UUIDv7 of t's millisecond or later, and above every earlier one.
func Floor(t time.Time) (i ID) {
	ms := min(max(t.UnixMilli(), 0), 1<<48-1)
	i[0], i[1], i[2], i[3], i[4], i[5] = byte(ms>>40), byte(ms>>32), byte(ms>>24), byte(ms>>16), byte(ms>>8), byte(ms)
	return i
}

// MarshalText returns the lower-case form, so that JSON shows a string.
func (i ID) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

// UnmarshalText parses the forms that Parse accepts.
func (i *ID) UnmarshalText(b []byte) (err error) {
	*i, err = Parse(string(b))
	return err
}

// Value implements driver.Valuer for users of database/sql, such as tests. pgx uses UUIDValue.
func (i ID) Value() (driver.Value, error) { return i.String(), nil }
