package archive

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// Objects stores objects by name. It is safe for concurrent use.
type Objects interface {
	// Put stores an object, or replaces it as a whole.
	Put(ctx context.Context, name string, body []byte) error
	// Open returns the content of an object, or an error that is fs.ErrNotExist if there is no such object.
	Open(ctx context.Context, name string) (io.ReadCloser, error)
}

// putTime is the timeout of one Put, its retries included.
const putTime = 2 * time.Minute

// Bucket is a folder in a bucket of an S3-compatible store. It implements Objects.
type Bucket struct {
	client       *minio.Client
	name, prefix string
}

// OpenBucket returns the archive at a URL that CheckURL accepts. It connects to nothing. Errors of a Bucket contain
// neither key.
func OpenBucket(url, accessKey, secretKey string) (*Bucket, error) {
	a, err := parse(url)
	if err != nil {
		return nil, fmt.Errorf("archive URL: %w", err)
	}
	client, err := minio.New(a.host, &minio.Options{
		Creds: credentials.NewStaticV4(accessKey, secretKey, ""), Secure: a.secure, Region: a.region,
		BucketLookup: a.lookup,
	})
	if err != nil {
		return nil, fmt.Errorf("open archive: %w", err)
	}
	return &Bucket{client: client, name: a.bucket, prefix: a.prefix}, nil
}

// Put implements Objects.
func (b *Bucket) Put(ctx context.Context, name string, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, putTime)
	defer cancel()
	kind := "application/gzip"
	if strings.HasSuffix(name, ".json") {
		kind = "application/json"
	}
	_, err := b.client.PutObject(ctx, b.name, path.Join(b.prefix, name), bytes.NewReader(body), int64(len(body)),
		minio.PutObjectOptions{ContentType: kind, SendContentMd5: true, DisableMultipart: true})
	if err != nil {
		return fmt.Errorf("store %s: %w", name, err)
	}
	return nil
}

// Open implements Objects.
func (b *Bucket) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	o, err := b.client.GetObject(ctx, b.name, path.Join(b.prefix, name), minio.GetObjectOptions{})
	if err == nil {
		_, err = o.Stat() // before it, no request is sent
	}
	switch {
	case err == nil:
		return o, nil
	case minio.ToErrorResponse(err).Code == minio.NoSuchKey:
		return nil, fmt.Errorf("read %s: %w", name, fs.ErrNotExist)
	default:
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
}
