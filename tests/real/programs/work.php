<?php
// Blocks cross between php and its extensions in both directions; prints digests.
function digest($value): string
{
    return substr(hash('sha256', is_string($value) ? $value : serialize($value)), 0, 16);
}

mt_srand(42);
$words = [];
for ($i = 0; $i < 100000; $i++) {
    $words['w' . mt_rand() % 30000][] = str_repeat('x', mt_rand() % 100);
}
ksort($words);
echo 'arrays: ', count($words), ' ', digest(array_map('count', $words)), "\n";
echo 'json: ', digest(json_encode(json_decode(json_encode($words), true))), "\n";
echo 'regex: ', digest(preg_replace('/x{3,7}/', '<$0>', implode(',', array_map('implode', $words)))), "\n";

$greek = str_repeat('αβγδε ζηθ ', 20000);
echo 'mbstring: ', digest(mb_convert_case(mb_convert_encoding($greek, 'UTF-16LE', 'UTF-8') ? $greek : '', MB_CASE_UPPER)), ' ',
    mb_strlen($greek), ' ', digest(mb_convert_encoding($greek, 'UTF-16LE', 'UTF-8')), "\n";

$document = new DOMDocument('1.0', 'UTF-8');
$root = $document->appendChild($document->createElement('items'));
foreach (array_slice($words, 0, 5000) as $word => $list) {
    $item = $root->appendChild($document->createElement('item', $word));
    $item->setAttribute('count', (string) count($list));
}
$xml = $document->saveXML();
$again = new DOMDocument();
$again->loadXML($xml);
$path = new DOMXPath($again);
echo 'dom: ', digest($xml), ' ', $path->query('//item[@count > 3]')->length, "\n";
$simple = simplexml_load_string($xml);
echo 'simplexml: ', count($simple->item), ' ', $simple->item[42], "\n";

$format = new NumberFormatter('de_DE', NumberFormatter::DECIMAL);
$collator = new Collator('sv_SE');
$names = ['Örjan', 'Zara', 'Åsa', 'Anna', 'Ärla'];
$collator->sort($names);
echo 'intl: ', $format->format(1234567.891), ' ', implode(' ', $names), ' ',
    digest(Normalizer::normalize($greek . 'é', Normalizer::FORM_D)), "\n";

$database = new SQLite3(':memory:');
$database->exec('create table item(name text, number integer)');
$database->exec('begin');
$insert = $database->prepare('insert into item values(:name, :number)');
foreach ($words as $word => $list) {
    $insert->bindValue(':name', $word);
    $insert->bindValue(':number', count($list));
    $insert->execute();
}
$database->exec('commit');
$database->createFunction('twist', fn ($text) => strrev($text) . $text);
$rows = [];
$result = $database->query('select twist(name) as t, sum(number) as n from item group by number order by number');
while ($row = $result->fetchArray(SQLITE3_ASSOC)) {
    $rows[] = $row;
}
echo 'sqlite3: ', digest($rows), "\n";
