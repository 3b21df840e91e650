# Writes a source file with one SHA-256 over the files named in `list`, one path a line.
file(STRINGS ${list} files)
list(SORT files)
set(digests "")
foreach(file IN LISTS files)
  file(SHA256 ${file} digest)
  file(RELATIVE_PATH name ${root} ${file})
  string(APPEND digests "${name} ${digest}\n")
endforeach()
string(SHA256 digest "${digests}")
file(WRITE ${output}
     "namespace gauntlet::${id} {\nextern const char kDigest[];\nconst char kDigest[] = \"${digest}\";\n}\n")
