module neardup/docs/peers/lcs

go 1.26.0

require github.com/sergi/go-diff v1.4.0
