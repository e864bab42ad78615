// Containers, strings, exceptions and shared pointers, made in one thread and freed in another.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <new>
#include <numeric>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

struct alignas(128) Wide {
    std::uint64_t words[16];
};

class Random {
public:
    explicit Random(std::uint64_t seed) : state(seed) {}
    std::uint32_t operator()(std::uint32_t bound)
    {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return static_cast<std::uint32_t>(state >> 33) % bound;
    }

private:
    std::uint64_t state;
};

using Tree = std::map<std::string, std::vector<std::shared_ptr<std::string>>>;

static Tree make_tree(std::uint64_t seed)
{
    Random random(seed);
    Tree tree;
    for (int i = 0; i < 60000; i++) {
        auto text = std::make_shared<std::string>(random(300), static_cast<char>('a' + random(26)));
        tree["key" + std::to_string(random(8000))].push_back(text);
        if (random(4) == 0)
            tree.erase("key" + std::to_string(random(8000)));
    }
    return tree;
}

static std::size_t weigh(const Tree &tree)
{
    std::size_t sum = 0;
    for (const auto &[key, texts] : tree)
        for (const auto &text : texts)
            sum = sum * 31 + key.size() + text->size() + (text->empty() ? 0 : text->front());
    return sum;
}

template <typename Container> static std::size_t churn(std::uint64_t seed)
{
    Random random(seed);
    Container items;
    for (int i = 0; i < 200000; i++) {
        items.push_back(random(1000));
        if (items.size() > 5000)
            items.erase(items.begin());
    }
    return std::accumulate(items.begin(), items.end(), std::size_t{0});
}

static std::size_t throw_many()
{
    std::size_t caught = 0;
    for (int i = 0; i < 20000; i++) {
        try {
            throw std::runtime_error(std::string(static_cast<std::size_t>(i % 400), 'e'));
        } catch (const std::exception &error) {
            caught += std::string(error.what()).size();
        }
    }
    try {
        std::vector<char> huge(static_cast<std::size_t>(1) << 62);
        caught += huge.size();
    } catch (const std::bad_alloc &) {
        caught++;
    }
    return caught;
}

int main()
{
    std::vector<Tree> trees(4);
    std::vector<std::thread> makers;
    for (std::size_t i = 0; i < trees.size(); i++)
        makers.emplace_back([&trees, i] { trees[i] = make_tree(i + 1); });
    for (auto &maker : makers)
        maker.join();
    for (auto &tree : trees) // freed here, made elsewhere
        std::cout << "tree " << tree.size() << ' ' << weigh(std::exchange(tree, {})) << '\n';

    std::cout << "deque " << churn<std::deque<std::uint64_t>>(5) << '\n';
    std::cout << "list " << churn<std::list<std::uint64_t>>(6) << '\n';

    std::vector<std::unique_ptr<Wide>> wide;
    for (int i = 0; i < 20000; i++)
        wide.push_back(std::make_unique<Wide>());
    std::cout << "aligned " << std::count_if(wide.begin(), wide.end(), [](const auto &block) {
        return reinterpret_cast<std::uintptr_t>(block.get()) % alignof(Wide) == 0;
    }) << '\n';

    std::ostringstream text;
    std::unordered_map<std::string, std::function<int(int)>> table;
    for (int i = 0; i < 20000; i++) {
        table.emplace("f" + std::to_string(i), [i, pad = std::string(40, 'p')](int x) {
            return x + i + static_cast<int>(pad.size());
        });
        text << "name" << i << "=value" << i * 7 << ';';
    }
    int calls = 0;
    for (int i = 0; i < 20000; i++)
        calls += table.at("f" + std::to_string(i))(i);
    std::cout << "functions " << calls << '\n';

    std::istringstream lines(text.str());
    std::multiset<std::string> found;
    for (std::string line; std::getline(lines, line, ';');)
        found.insert(line.substr(line.find('=')));
    std::cout << "strings " << found.size() << ' ' << *found.begin() << ' ' << *found.rbegin() << '\n';
    std::cout << "exceptions " << throw_many() << '\n';
}
