module github.com/seed-45b9a24c/pare

go 1.26
