package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"
)

// Region, endpoint and credentials come from the same places as in the AWS tools.
// Without credentials, requests are not signed; public buckets allow that.

// settings are those of the environment and of the AWS tools' files. They are read
// once.
var settings = sync.OnceValues(func() (aws.Config, error) {
	ctx := context.Background()
	c, err := config.LoadDefaultConfig(ctx, config.WithLogger(logging.Nop{})) // errors say what matters
	if err != nil {
		return c, err
	}
	if c.Region == "" {
		c.Region = "us-east-1" // the first answer names another one if need be
	}
	if _, err := c.Credentials.Retrieve(ctx); err != nil {
		if !strings.Contains(err.Error(), "EC2 IMDS role") { // the last place that is searched: there are no credentials
			return c, fmt.Errorf("AWS credentials: %w", err)
		}
		c.Credentials = aws.AnonymousCredentials{}
	}
	return c, nil
})

// bucket is a bucket of an object store.
type bucket struct {
	name string

	mu     sync.Mutex
	region string
}

// buckets caches buckets by name, so that the region of each is found once.
var buckets sync.Map

func (b *bucket) client() (*s3.Client, error) {
	c, err := settings()
	if err != nil {
		return nil, permanent{err}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return s3.NewFromConfig(c, func(o *s3.Options) {
		o.HTTPClient = &http.Client{Transport: client.Transport, CheckRedirect: stay}
		o.Retryer = aws.NopRetryer{} // Object retries: it knows where to continue
		o.UsePathStyle = o.BaseEndpoint != nil
		o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired // a range of an object has no checksum
		if b.region != "" {
			o.Region = b.region
		}
	}), nil
}

// stay stops the client from following redirections: a signature is valid for one
// host, and ask finds the region.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// ask calls do, and calls it again if the bucket is in another region.
func (b *bucket) ask(do func(*s3.Client) error) error {
	for again := false; ; again = true {
		c, err := b.client()
		if err != nil {
			return err
		}
		err = do(c)
		var resp *awshttp.ResponseError
		if err == nil || !errors.As(err, &resp) || resp.Response == nil {
			return err
		}
		region := resp.Response.Header.Get("X-Amz-Bucket-Region")
		if again || region == "" || region == c.Options().Region {
			return failed(err, resp)
		}
		b.mu.Lock()
		b.region = region
		b.mu.Unlock()
	}
}

// failed converts the error of an object store's answer.
func failed(err error, resp *awshttp.ResponseError) error {
	code := resp.HTTPStatusCode()
	var unread *smithy.DeserializationError
	if code/100 == 2 && errors.As(err, &unread) {
		return fmt.Errorf("the object store's answer cannot be read: %w", unread.Err)
	}
	text := fmt.Sprintf("the object store says %d %s", code, http.StatusText(code))
	var api smithy.APIError
	if errors.As(err, &api) && api.ErrorCode() != "" && api.ErrorCode() != http.StatusText(code) {
		text += ": " + strings.Trim(api.ErrorCode()+": "+api.ErrorMessage(), ": ")
	}
	if code == http.StatusForbidden {
		if c, err := settings(); err == nil && aws.IsCredentialsProvider(c.Credentials, aws.AnonymousCredentials{}) {
			text += " (no credentials were found, so the request was not signed)"
		}
	}
	if code == http.StatusPreconditionFailed {
		return ErrChanged
	}
	return &failure{code, text, retryAfter(resp.Response.Header)}
}

// item is an object in a bucket.
type item struct {
	*bucket
	key string
}

// Errors of s3 URLs. They do not repeat the URL, which may have a secret.
var (
	errNoBucket = errors.New("no bucket is named; want s3://BUCKET/KEY")
	errNoPlace  = errors.New("a URL s3://BUCKET/KEY has no user, password or port; credentials and endpoint are those of the AWS tools")
)

// splitBucket splits s3://BUCKET/KEY. The bucket is nil for any other URL. A secret may
// have a slash, so that the bucket has no @.
func splitBucket(name string) (_ *bucket, key string, err error) {
	scheme, rest, _ := strings.Cut(name, "://")
	if !strings.EqualFold(scheme, "s3") {
		return nil, "", nil
	}
	of, key, _ := strings.Cut(rest, "/")
	switch {
	case of == "":
		return nil, "", permanent{errNoBucket}
	case strings.Contains(of, "@"), strings.Contains(of, ":") && !strings.HasPrefix(of, "arn:"):
		return nil, "", permanent{errNoPlace}
	}
	b, _ := buckets.LoadOrStore(of, &bucket{name: of})
	return b.(*bucket), key, nil
}

func (i item) get(ctx context.Context, from, to int64, want Version) (a *answer, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer func() {
		if err != nil {
			cancel(nil)
		}
	}()
	in := &s3.GetObjectInput{Bucket: &i.name, Key: &i.key, Range: aws.String(byteRange(from, to))}
	if strong(want.Tag) {
		in.IfMatch = &want.Tag
	}
	err = i.ask(func(c *s3.Client) error {
		out, err := c.GetObject(ctx, in)
		if err != nil {
			return explain(err)
		}
		modified := ""
		if out.LastModified != nil {
			modified = out.LastModified.UTC().Format(http.TimeFormat)
		}
		a = &answer{body: stallBody(out.Body, cancel), Version: Version{-1, version(aws.ToString(out.ETag), modified)}}
		if out.ContentRange == nil {
			if out.ContentLength != nil {
				a.Size = *out.ContentLength
			}
			return nil
		}
		a.ranged = true
		if a.from, a.till, a.Size, err = contentRange(*out.ContentRange); err != nil {
			_ = a.body.Close()
			return permanent{err}
		}
		return nil
	})
	var f *failure
	if errors.As(err, &f) && f.status == http.StatusRequestedRangeNotSatisfiable {
		if from > 0 {
			return nil, ErrChanged // it is shorter now
		}
		in.Range = nil // it is empty
		err = i.ask(func(c *s3.Client) error {
			out, err := c.GetObject(ctx, in)
			if err != nil {
				return explain(err)
			}
			a = &answer{body: stallBody(out.Body, cancel), ranged: true, Version: Version{aws.ToInt64(out.ContentLength), version(aws.ToString(out.ETag), "")}}
			return nil
		})
	}
	return a, err
}

// keyOf returns the key of an object in a list. A store may send keys as they are,
// though it was asked to encode them.
func keyOf(of types.Object, encoding types.EncodingType) string {
	key := aws.ToString(of.Key)
	if encoding == types.EncodingTypeUrl {
		if decoded, err := url.QueryUnescape(key); err == nil {
			return decoded
		}
	}
	return key
}

// maxEmpty limits the pages of a list without an object, in a row. A store sends some
// where many objects were deleted.
const maxEmpty = 1000

// List returns the URLs of the objects whose keys begin with the key of an s3 URL.
// It leaves out markers of folders, and returns none for other URLs.
func List(ctx context.Context, name string) (names []string, err error) {
	b, prefix, err := splitBucket(name)
	if b == nil {
		return nil, err
	}
	o := &Object{ctx: ctx}
	in := &s3.ListObjectsV2Input{Bucket: &b.name, Prefix: &prefix, EncodingType: types.EncodingTypeUrl} // XML has no control characters
	tokens, empty := map[string]bool{}, 0
	for {
		var out *s3.ListObjectsV2Output
		err := o.retry(func() error {
			return b.ask(func(c *s3.Client) (err error) {
				ctx, cancel := context.WithTimeoutCause(ctx, headerTime+stallTime, errStalled)
				defer cancel()
				out, err = c.ListObjectsV2(ctx, in)
				return explain(err)
			})
		})
		if err != nil {
			return nil, err
		}
		for _, of := range out.Contents {
			key := keyOf(of, out.EncodingType)
			if marker := strings.HasSuffix(key, "/") && aws.ToInt64(of.Size) == 0; !marker {
				names = append(names, "s3://"+b.name+"/"+key)
			}
		}
		if !aws.ToBool(out.IsTruncated) {
			return names, nil
		}
		if empty++; len(out.Contents) > 0 {
			empty = 0
		}
		next := aws.ToString(out.NextContinuationToken)
		switch {
		case next == "":
			return nil, permanent{errors.New("the object store says that its list of objects goes on, and not where")}
		case tokens[next]:
			return nil, permanent{errors.New("the object store's list of objects begins again and never ends")}
		case empty >= maxEmpty:
			return nil, permanent{fmt.Errorf("the object store's list of objects has %d pages in a row without an object", empty)}
		}
		tokens[next] = true
		in.ContinuationToken = &next
	}
}
