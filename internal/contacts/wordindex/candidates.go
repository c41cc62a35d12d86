package wordindex

import (
	"context"
	"fmt"
	"math/bits"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/postgres"
)

// MaxTerms is the maximum number of terms for Find.
const MaxTerms = 8

// Term is one word of a search.
type Term struct {
	Word      string  // prefix of a word of the contact or its company; folded, not empty
	Companies []id.ID // all companies with such a word, unless More
	More      bool    // there are more companies, which Find reads itself
}

// Limits bound the work of one call of Find.
type Limits struct {
	Marks int // maximum number of contacts that no block covers
	Few   int // up to this many candidates, companies are not read
	Most  int // maximum number of candidates; with more, only Len is set
}

// Candidates are the contacts, live and archived, that may match a search.
type Candidates struct {
	marked []id.ID
	hits   []hit // empty if there are more than the limit
	n      int   // number of hits, or one more than the limit
}

// Len returns an upper bound of the number of candidates, since some may count twice. Above the limit, it is only some
// number above the limit.
func (c *Candidates) Len() int { return len(c.marked) + c.n }

// readSQL reads pages and marks in one snapshot.
const readSQL = `
SELECT block, page, data FROM word_index_page WHERE org_id = $1 AND page = ANY ($2::smallint[])
UNION ALL
SELECT -1, 0::smallint, COALESCE((SELECT string_agg(uuid_send(contact_id), '') FROM (
	SELECT contact_id FROM word_index_mark WHERE org_id = $1 LIMIT $3) AS marked), '')`

// Find returns the candidates that may match all of the terms, at least one and at most MaxTerms. It misses no match.
// It returns nil if more contacts are marked than the limit. The org's index must be ready.
//
// At first a contact with any company counts as a match for a term that companies have. Only if that leaves more than
// limits.Few candidates does Find read the companies, which costs four bytes for each contact of the org.
func Find(ctx context.Context, tx *postgres.Tx, terms []Term, limits Limits) (*Candidates, error) {
	s := newSearch(terms)
	rows, err := tx.Query(ctx, readSQL, tx.Org(), s.pageNumbers(), limits.Marks+1)
	if err != nil {
		return nil, fmt.Errorf("read word index: %w", err)
	}

	var c Candidates
	if err := eachPage(rows, func(block int32, page int16, data []byte) {
		if block < 0 {
			c.marked = appendIDs(c.marked, data)
			return
		}
		s.addPage(block, page, data)
	}); err != nil {
		return nil, fmt.Errorf("read word index: %w", err)
	}
	if len(c.marked) > limits.Marks {
		return nil, nil //nolint:nilnil // the caller has another way
	}
	if s.companyTerms != 0 {
		if c.hits, c.n = s.findHits(limits.Few); c.n <= limits.Few {
			return &c, nil
		}
		if err := s.readCompanies(ctx, tx, terms); err != nil {
			return nil, err
		}
	}
	c.hits, c.n = s.findHits(limits.Most)
	return &c, nil
}

// readCompanies reads the companies of each term and the company of each contact. Blocks that are added in between do
// not matter: the blocks and marks of the first statement cover the same contacts.
func (s *search) readCompanies(ctx context.Context, tx *postgres.Tx, terms []Term) error {
	of := make([][]id.ID, len(terms))
	for i, t := range terms {
		of[i] = t.Companies
		if !t.More {
			continue
		}
		var all []byte
		err := tx.QueryRow(ctx, `SELECT COALESCE(string_agg(uuid_send(company_id), ''), '') FROM company_word
			WHERE org_id = $1 AND word >= $2 AND word < $3`, []any{tx.Org(), t.Word, t.Word + "\U0010FFFF"}, &all)
		if err != nil {
			return fmt.Errorf("read companies: %w", err)
		}
		of[i] = appendIDs(nil, all)
	}

	s.takeCompanies(of)
	rows, err := tx.Query(ctx, `SELECT block, page, data FROM word_index_page
		WHERE org_id = $1 AND page >= $2 AND page < $3`, tx.Org(), firstHashes, firstIDs)
	if err != nil {
		return fmt.Errorf("read companies of contacts: %w", err)
	}
	if err := eachPage(rows, s.takeHashes); err != nil {
		return fmt.Errorf("read companies of contacts: %w", err)
	}

	return nil
}

// IDs returns the candidates in the order of their ids, without duplicates. It returns false if a build has deleted a
// block since Find.
func (c *Candidates) IDs(ctx context.Context, tx *postgres.Tx) ([]id.ID, bool, error) {
	type place struct {
		block int32
		page  int16
	}
	found := slices.Clone(c.marked)
	pages := 0
	words := make(map[place]uint64, len(c.hits))
	blocks := make([]int32, len(c.hits))
	numbers := make([]int16, len(c.hits))
	for i, h := range c.hits {
		blocks[i] = h.block
		numbers[i] = h.page
		words[place{h.block, h.page}] = h.word
	}

	if len(blocks) > 0 {
		rows, err := tx.Query(ctx, `SELECT p.block, p.page, p.data
			FROM unnest($2::int[], $3::smallint[]) AS x (block, page)
			JOIN word_index_page p ON p.org_id = $1 AND p.page = x.page AND p.block = x.block`,
			tx.Org(), blocks, numbers)
		if err != nil {
			return nil, false, fmt.Errorf("read ids: %w", err)
		}
		if err := eachPage(rows, func(block int32, page int16, data []byte) {
			pages++
			for word := words[place{block, page}]; word != 0; word &= word - 1 {
				i := id.ID(data[bits.TrailingZeros64(word)*len(id.ID{}):])
				if !i.IsZero() { // erased
					found = append(found, i)
				}
			}
		}); err != nil {
			return nil, false, fmt.Errorf("read ids: %w", err)
		}
	}
	slices.SortFunc(found, id.Compare)
	return slices.Compact(found), pages == len(c.hits), nil
}

// eachPage calls fn for each row. data is only valid during the call.
func eachPage(rows pgx.Rows, fn func(block int32, page int16, data []byte)) error {
	var (
		block int32
		page  int16
		data  pgtype.DriverBytes
	)
	_, err := pgx.ForEachRow(rows, []any{&block, &page, &data}, func() error {
		fn(block, page, data)
		return nil
	})
	return err
}

// appendIDs appends the ids encoded in b.
func appendIDs(ids []id.ID, b []byte) []id.ID {
	ids = slices.Grow(ids, len(b)/len(id.ID{}))
	for ; len(b) > 0; b = b[len(id.ID{}):] {
		ids = append(ids, id.ID(b[:len(id.ID{})]))
	}
	return ids
}
