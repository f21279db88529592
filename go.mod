module burst

go 1.26
