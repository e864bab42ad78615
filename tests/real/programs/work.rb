# Strings, hashes, threads, fork and heap compaction; prints digests.
require 'digest'
require 'json'

def digest(value)
  Digest::SHA256.hexdigest(value.to_s)[0, 16]
end

def words(seed, count)
  random = Random.new(seed)
  Array.new(count) { |i| "#{i}-" + random.bytes(random.rand(1..300)).unpack1('H*') }
end

puts "first digest: #{digest('')}" # loads the class before several threads ask for it
threads = (1..4).map { |seed| Thread.new { digest(words(seed, 20_000).sort.join(',')) } }
puts "threads: #{threads.map(&:value).join(' ')}"

table = words(5, 60_000).to_h { |word| [word[0, 5], { 'text' => word, 'size' => word.size }] }
puts "json: #{digest(JSON.generate(JSON.parse(JSON.generate(table))))}"

grown = +''
60_000.times { |i| grown << i.to_s * 7 }
puts "grown string: #{grown.size} #{digest(grown)}"
puts "scan: #{digest(grown.scan(/[1-4]{3,}/).tally.sort)}"

table.delete_if { |key, _| key.start_with?('1') }
GC.start
GC.compact if GC.respond_to?(:compact)
puts "after compaction: #{table.size} #{digest(table.sort)}"

3.times do |number|
  reader, writer = IO.pipe
  child = fork do
    reader.close
    writer.puts digest(words(number, 10_000).reverse.join)
    writer.close
  end
  writer.close
  puts "fork #{number}: #{reader.read.strip}"
  Process.wait(child)
  puts "exit #{$?.exitstatus}"
end
