package httpx

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/funnelwork/funnelwork/internal/fault"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// idempotencyKey reads the idempotency key, if the operation allows one.
func idempotencyKey(c *fiber.Ctx, r *Request) error {
	if !r.Op.Keyed() {
		return nil
	}

	given := c.Request().Header.PeekAll(keyHeader)
	if len(given) == 0 {
		return nil
	}

	key := string(given[0])
	ok := len(given) == 1 && len(key) >= 1 && len(key) <= 255
	for i := range len(key) {
		ok = ok && key[i] > 0x20 && key[i] < 0x7f
	}

	if !ok {
		return fault.Parameter(keyHeader, "invalid_format",
			"A key is given once and has 1 to 255 visible ASCII characters.")
	}

	r.Key = key

	return nil
}

// setFingerprint computes the hash that ties the key to the caller and the request.
func setFingerprint(c *fiber.Ctx, r *Request, body []byte) {
	if r.Key == "" {
		return
	}

	kind, ident := r.Who.Actor()
	h := sha256.New()
	for _, part := range [][]byte{[]byte(kind + " " + ident), []byte(r.Op.Method), c.Request().URI().
		RequestURI(), body} {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write(part)
	}

	h.Sum(r.Fingerprint[:0])
}

// A key is in flight while a transaction holds the advisory lock on its hash. The lock ends with the transaction. A
// separate statement reads the record after the lock is taken, so that it sees what the previous holder committed.
const (
	lockKeySQL = `SELECT pg_try_advisory_xact_lock(hashtextextended('idempotency ' || $1::text || ' ' || $2::text, 0))`
	recallSQL  = `SELECT fingerprint, answer FROM idempotency_key WHERE org_id = $1 AND key = $2
		AND created_at > now() - interval '24 hours'`
	rememberSQL = `
INSERT INTO idempotency_key (org_id, key, fingerprint, answer) VALUES ($1, $2, $3, $4)
ON CONFLICT (org_id, key) DO UPDATE SET fingerprint = excluded.fingerprint, answer = excluded.answer, created_at = now()
WHERE idempotency_key.created_at <= now() - interval '24 hours'`
)

// writeOnce is write for a request with an idempotency key. The first request runs fn and stores the response in the
// same transaction; later requests get the stored response. An error stores nothing, so the request may be retried.
func writeOnce[O any](ctx context.Context, s *Server, r *Request, fn func(*postgres.Tx) (*O, error)) (*O, error) {
	var out *O
	err := s.DB.Tx(ctx, r.Who.Org, func(tx *postgres.Tx) error {
		stored, err := RecallStored(ctx, tx, r)
		if err != nil {
			return err
		}
		if stored != nil {
			r.Replayed = true
			return s.DecodeStored(r, stored, &out)
		}
		if out, err = fn(tx); err != nil {
			return err
		}

		return StoreResponse(tx, s, r, out)
	})
	if err != nil {
		return nil, err
	}

	return out, nil
}

// StoreResponse stores the response under the request's key in tx.
func StoreResponse[O any](tx *postgres.Tx, s *Server, r *Request, out *O) error {
	answer, err := s.encodeResponse(r, out)
	if err != nil {
		return err
	}

	tx.Queue(rememberSQL, tx.Org(), r.Key, r.Fingerprint[:], answer).Exec(func(tag pgconn.CommandTag) error {
		if tag.RowsAffected() == 0 {
			return InFlight()
		}
		return nil
	})
	return nil
}

// RecallStored returns the stored response, or nil for a new key.
func RecallStored(ctx context.Context, tx *postgres.Tx, r *Request) ([]byte, error) {
	tx.Queue(lockKeySQL, tx.Org().String(), r.Key).QueryRow(func(row pgx.Row) error {
		var got bool
		if err := row.Scan(&got); err != nil {
			return err
		}
		if !got {
			return InFlight()
		}
		return nil
	})
	var seen, answer []byte
	err := tx.QueryRow(ctx, recallSQL, []any{tx.Org(), r.Key}, &seen, &answer)
	switch {
	case postgres.None(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("recall idempotency key: %w", err)
	case string(seen) != string(r.Fingerprint[:]):
		return nil,
			fault.New(fault.IdempotencyMismatch,
				"This Idempotency-Key was used with another request. Use a new key for a new request.")
	}

	return answer, nil
}

// InFlight returns the fault of a request whose key another request uses at the moment.
func InFlight() error {
	return &fault.Fault{
		Code:   fault.IdempotencyInFlight,
		Detail: "A request with this Idempotency-Key is being worked on.", RetryAfter: time.Second,
	}
}

func (s *Server) encodeResponse(r *Request, out any) ([]byte, error) {
	b, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("encode response: %w", err)
	}
	if r.Op.Secret {
		return s.Box.Seal(b, keptAs(r))
	}
	return b, nil
}

// DecodeStored decodes the response that was stored for r into out.
func (s *Server) DecodeStored(r *Request, stored []byte, out any) (err error) {
	// Responses stored before the operation was marked Secret are plain.
	if r.Op.Secret && !bytes.HasPrefix(stored, []byte{'{'}) {
		if stored, err = s.Box.Open(stored, keptAs(r)); err != nil {
			return err
		}
	}
	if err := json.Unmarshal(stored, out); err != nil {
		return fmt.Errorf("decode stored response: %w", err)
	}
	return nil
}

func keptAs(r *Request) string { return "idempotency_key/" + r.Who.Org.String() + "/" + r.Key }
