package id

import "github.com/jackc/pgx/v5/pgtype"

// UUIDValue passes the 16 bytes to pgx unchanged. Without it pgx would use driver.Valuer, which costs a string and a
// parse per argument.
func (i ID) UUIDValue() (pgtype.UUID, error) { return pgtype.UUID{Bytes: i, Valid: true}, nil }

// ScanUUID reads a uuid column; NULL becomes the zero ID.
func (i *ID) ScanUUID(v pgtype.UUID) error {
	*i = v.Bytes
	return nil
}
