package auth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	_ "embed"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// Argon2id parameters as recommended by OWASP's password storage cheat sheet.
const (
	argonMemory = 19456 // KiB
	argonTime   = 2
	argonLanes  = 1
	argonSalt   = 16
	argonHash   = 32
)

// Lengths of a password, in characters after NFC normalization.
const (
	passwordMin = 8
	passwordMax = 128
)

// common holds the head of the published lists of leaked passwords, folded, those of eight characters and more.
//
//go:embed common_passwords.txt
var common string

// CheckPassword rejects a password that is too short, too long, among the most common ones, or the address itself.
// field is its place in the request.
func CheckPassword(field, password, email string) error {
	password = norm.NFC.String(password)
	folded := strings.ToLower(password)
	switch n := utf8.RuneCountInString(password); {
	case n < passwordMin:
		return fault.Invalid(field, "too_short", fmt.Sprintf("A password has at least %d characters.", passwordMin))
	case n > passwordMax:
		return fault.Invalid(field, "too_long", fmt.Sprintf("A password has at most %d characters.", passwordMax))
	case strings.Contains(common, "\n"+folded+"\n") && !strings.Contains(folded, "\n"):
		return fault.Invalid(field, "too_common", "This password is among the most common ones; choose another.")
	case email != "" && folded == FoldEmail(email):
		return fault.Invalid(field, "too_common", "The password must not be the mail address.")
	}

	return nil
}

// HashPassword returns the PHC string to store. It takes tens of milliseconds of one core and waits for a free one.
func (s *Service) HashPassword(ctx context.Context, password string) (string, error) {
	var salt [argonSalt]byte
	_, _ = rand.Read(salt[:]) // never fails
	sum, err := s.hashWith(ctx, password,
		phc{memory: argonMemory, time: argonTime, lanes: argonLanes, salt: salt[:], sum: make([]byte, argonHash)})
	if err != nil {
		return "", err
	}

	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, argonMemory, argonTime, argonLanes,
		base64.RawStdEncoding.EncodeToString(salt[:]), base64.RawStdEncoding.EncodeToString(sum)), nil
}

// matchPassword compares password with a stored hash. Without a usable hash it does the same work and returns false, so
// that the duration reveals nothing. stale reports that the hash was made with other parameters than the current ones.
func (s *Service) matchPassword(ctx context.Context, stored, password string) (ok, stale bool, err error) {
	h, known := readPHC(stored)
	if !known {
		h = phc{
			memory: argonMemory, time: argonTime, lanes: argonLanes, salt: make([]byte, argonSalt),
			sum: make([]byte, argonHash),
		}
	}

	sum, err := s.hashWith(ctx, password, h)
	if err != nil {
		return false, false, err
	}

	ok = subtle.ConstantTimeCompare(sum, h.sum) == 1 && known
	stale = h.memory != argonMemory || h.time != argonTime || h.lanes != argonLanes || len(h.salt) != argonSalt ||
		len(h.sum) != argonHash

	return ok, stale, nil
}

func (s *Service) hashWith(ctx context.Context, password string, h phc) ([]byte, error) {
	select {
	case s.hashing <- struct{}{}:
	case <-ctx.Done():
		return nil, fault.New(fault.Unavailable, "Too many logins at this moment.").Because(ctx.Err())
	}

	defer func() { <-s.hashing }()

	s.Metrics.hashes.Inc()
	return argon2.IDKey([]byte(norm.NFC.String(password)), h.salt, h.time, h.memory, h.lanes, uint32(len(h.sum))), nil
}

// phc is a parsed hash.
type phc struct {
	memory, time uint32
	lanes        uint8
	salt, sum    []byte
}

// readPHC parses "$argon2id$v=19$m=..,t=..,p=..$salt$hash" and rejects parameters out of bounds.
func readPHC(text string) (h phc, ok bool) {
	part := strings.Split(text, "$")
	if len(part) != 6 || part[0] != "" || part[1] != "argon2id" || part[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return h, false
	}
	if n, err := fmt.Sscanf(part[3], "m=%d,t=%d,p=%d", &h.memory, &h.time, &h.lanes); n != 3 || err != nil {
		return h, false
	}

	var errs [2]error
	h.salt, errs[0] = base64.RawStdEncoding.DecodeString(part[4])
	h.sum, errs[1] = base64.RawStdEncoding.DecodeString(part[5])
	ok = errs[0] == nil && errs[1] == nil && h.memory <= 1<<20 && h.time >= 1 && h.time <= 16 && h.lanes >= 1 &&
		len(h.salt) >= 8 && len(h.sum) >= 16 && len(h.sum) <= 64

	return h, ok
}
