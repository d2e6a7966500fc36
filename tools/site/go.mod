module github.com/seed-45b9a24c/pare/tools/site

go 1.26.0

require github.com/yuin/goldmark v1.8.7
