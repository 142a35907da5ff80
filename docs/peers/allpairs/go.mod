module neardup/docs/peers/allpairs

go 1.26.0
